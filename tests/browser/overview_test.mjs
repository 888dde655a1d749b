// The first view: devices with who has their memory, what runs, what comes next and what ended.
import assert from "node:assert/strict";
import { BERTH, eventually, webTest } from "./case.mjs";

const card = (page, device) => page.getByRole("listitem").filter({ has: page.getByRole("heading", { name: `GPU ${device}` }) });
const section = (page, name) => page.getByRole("region", { name });
const figure = (page, name) => page.locator("dl.figures div").filter({ hasText: new RegExp(`^${name}`) }).getByRole("definition");

/// What the bar says to those who cannot see it, and the parts of it that are drawn.
async function memoryIs(page, device, words, ...parts) {
  const bar = card(page, device).getByRole("img", { name: words });
  await bar.waitFor();
  const drawn = await bar.evaluate((element) => {
    const whole = element.getBoundingClientRect().width;
    return [...element.children].map((part) => part.getBoundingClientRect().width / whole);
  });
  assert.deepEqual(drawn.map((part) => Math.round(part * 24)), parts, "GiB as drawn");
}

webTest("an empty daemon says what to do first", { devices: "sim:2x24GiB" }, async ({ home, page }) => {
  const steps = section(page, "First steps");
  await steps.getByText("berth submit python train.py").first().waitFor();
  assert.equal(await steps.getByRole("link", { name: "a sweep" }).getAttribute("href"), "#/add/sweep");
  await memoryIs(page, 1, "Memory of 24 GiB: 24 GiB free", 24);
  await card(page, 0).getByText("free", { exact: true }).first().waitFor();
  // The first job takes their place, without a reload.
  await home.submit("--hold", "--", "true");
  await section(page, "Running").getByText("Nothing runs.").waitFor();
  assert.equal(await steps.count(), 0);
  await section(page, "Next").getByText("Nothing waits.").waitFor();
  await figure(page, "Waiting").getByText("+ 1 held").waitFor();
});

webTest("cards tell who has the memory, and how busy a device is", {}, async ({ home, page }) => {
  const job = ["--mem", "12GiB", "--name", "big", "--project", "vision", "--only", "1"];
  const use = [BERTH, "simjob", "--mem", "6GiB", "--hold", "1h", "--util", "70", "--power", "250"];
  const id = await home.submit(...job, "--", ...use);
  await memoryIs(page, 1, "Memory of 24 GiB: 6 GiB used, 6 GiB claimed, not used, 12 GiB free", 6, 6, 12);
  await card(page, 1).getByText("70 %", { exact: true }).waitFor();
  await card(page, 1).getByText(/^\d+ \/ \d+ W$/).waitFor();
  await card(page, 1).getByText(/^\d+ °C$/).waitFor();
  await card(page, 1).getByRole("img", { name: "Utilisation of the last ten minutes, now 70 %" }).waitFor();
  const link = card(page, 1).getByRole("link", { name: "vision/big" });
  assert.equal(await link.getAttribute("href"), `#/jobs/${id}`);

  await home.berth("simset", "--gpus", "sim:4x24GiB", "2", "foreign=10GiB");
  await memoryIs(page, 2, "Memory of 24 GiB: 10 GiB foreign, 14 GiB free", 10, 14);
  await figure(page, "GPUs in use").getByText("1 of 4").waitFor();
  await figure(page, "Power now").getByText(/^\d+ W$/).waitFor();

  await home.berth("gpus", "drain", "3");
  await card(page, 3).getByText("drained: nothing more starts here").waitFor();
  await home.berth("simset", "--gpus", "sim:4x24GiB", "0", "lost=1");
  await card(page, 0).getByText("lost: it does not answer").waitFor();
  await home.berth("gpus", "undrain", "3");
  await card(page, 3).getByText("drained").waitFor({ state: "detached" });

  await link.click();
  await page.getByRole("heading", { level: 1, name: `vision/big/${id}` }).waitFor();
});

webTest("what runs, comes next and has ended", { devices: "sim:1x24GiB" }, async ({ home, page }) => {
  await home.submit("--name", "bad", "--", "false");
  await home.submit("--name", "good", "--", "true");
  await home.berth("wait", "1-2").catch(() => undefined);
  const lately = section(page, "Ended lately");
  await lately.getByRole("listitem").filter({ hasText: "bad/1" }).getByText("failed").waitFor();
  await lately.getByRole("listitem").filter({ hasText: "good/2" }).getByText("succeeded").waitFor();
  await figure(page, "Ended today").getByText(/^2\s*1 failed$/).waitFor();

  const gate = home.makeGate("gate");
  await home.submit("--name", "first", "--expected", "1h", "--", `read x < ${gate.path}`);
  for (let i = 0; i < 10; ++i) {
    await home.submit("--name", `next${i}`, "--expected", "30m", "--", "true");
  }
  const running = section(page, "Running");
  await running.getByRole("link", { name: "first/3" }).waitFor();
  const bar = running.getByRole("progressbar", { name: "Job 3" });
  assert.equal(await bar.getAttribute("aria-valuenow"), "0");
  await running.getByText(/ of 1 h$/).waitFor();
  const next = section(page, "Next");
  await next.getByRole("listitem").filter({ hasText: "next0/4" }).getByText(/^in (59 m|1 h)$/).waitFor();
  await next.getByRole("listitem").filter({ hasText: "next1/5" }).getByText("in 1 h").waitFor();
  await next.getByRole("listitem").filter({ hasText: "next4/8" }).getByText(/^in [23] h$/).waitFor();
  await next.getByRole("listitem").nth(7).waitFor(); // it may have been read before the last were there
  assert.equal(await next.getByRole("listitem").count(), 8);
  await next.getByRole("link", { name: "All 10 waiting jobs" }).waitFor();
  await figure(page, "Running").getByText("1", { exact: true }).waitFor();
  await figure(page, "Waiting").getByText("10", { exact: true }).waitFor();

  await gate.open();
  await lately.getByRole("link", { name: "first/3" }).waitFor();
  await lately.getByRole("link", { name: "next9/13" }).waitFor();
  await running.getByText("Nothing runs.").waitFor();
  await next.getByText("Nothing waits.").waitFor();
  assert.equal(await next.getByRole("listitem").count(), 0);
  await lately.getByRole("link", { name: "All that ended" }).click();
  await page.getByRole("status").getByText("13 jobs").first().waitFor();
});

webTest("GPU-hours and energy of today grow", { devices: "sim:16x24GiB" }, async ({ home, page }) => {
  await home.submit("--gpus", "16", "--", BERTH, "simjob", "--mem", "2GiB", "--hold", "1h", "--power", "300");
  const number = async (name) => Number(/[\d.]+/.exec(await figure(page, name).innerText())?.[0] ?? 0);
  await eventually(async () => (await number("Energy today")) > 0, "no energy is told");
  await eventually(async () => (await number("GPU-hours today")) > 0, "no GPU-hours are told");
});

webTest("what failed, a small timeline, and figures that lead on", {}, async ({ home, page }) => {
  await home.submit("--name", "fine", "--", "true");
  await home.submit("--name", "broken", "--", "exit 3");
  await home.submit("--name", "slow", "--timeout", "50ms", "--", "sleep 60");
  await home.berth("wait").catch(() => undefined);
  const attention = section(page, "Needs attention");
  await attention.getByRole("link", { name: "broken/2" }).waitFor();
  await attention.getByRole("listitem").filter({ hasText: "slow/3" }).getByText("timed out").waitFor();
  assert.equal(await attention.getByRole("listitem").count(), 2);
  await section(page, "Timeline").getByRole("img", { name: "3 runs of jobs lately and soon, by device" }).waitFor();

  const tile = (name) => page.getByRole("link", { name: new RegExp(`^${name} `) });
  assert.equal(await tile("Running").getAttribute("href"), "#/jobs?state=starting%2Crunning");
  await tile("Ended today").click();
  await page.getByRole("status").getByText("3 jobs").first().waitFor();
  await page.goBack();
  await attention.getByRole("link", { name: "All failed jobs" }).click();
  await page.getByRole("status").getByText("2 jobs of 3").waitFor();
  await page.goBack();
  // What is started again needs no attention for now.
  await home.berth("daemon", "pause");
  await home.berth("rerun", "2");
  await attention.getByRole("link", { name: "broken/2" }).waitFor({ state: "detached" });
  await home.berth("rerun", "3");
  await attention.waitFor({ state: "detached" });
});

for (const [width, height] of [[390, 844], [1440, 900]]) {
  webTest(`nothing is cut off at ${width} pixels`, { width, height, devices: "sim:8x24GiB" }, async ({ home, page }) => {
    const name = `a long name ${"that goes on ".repeat(10)}`;
    await home.submit("--name", name, "--project", "p".repeat(80), "--", BERTH, "simjob", "--mem", "6GiB", "--hold", "1h");
    await home.berth("submit", "--gpus", "8", "--array", "10", "--name", name, "--", "true");
    await section(page, "Next").getByRole("listitem").nth(7).waitFor();
    await section(page, "Running").getByRole("listitem").first().waitFor();
    const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(over <= 0, `the page is ${over} pixels too wide`);
  });
}

webTest("an idle device says for which job it is kept", { devices: "sim:2x24GiB" }, async ({ home, page }) => {
  const first = await home.submit("--expected", "1h", "--only", "1", "--", "sleep 600");
  await home.until(first, ({ state }) => state === "running");
  const gang = await home.submit("--name", "ddp", "--gpus", "2", "--", "true");
  await page.getByText(`reserved for`).waitFor();
  await page.getByRole("listitem").filter({ hasText: "reserved for" }).getByRole("link", { name: `ddp/${gang}` }).first().waitFor();
});
