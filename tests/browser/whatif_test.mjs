// What if: policies side by side, with the figures of `berth whatif`.
import assert from "node:assert/strict";
import { BERTH, webTest } from "./case.mjs";

async function open(page) {
  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "What if" }).click();
  await page.getByRole("checkbox", { name: /^fifo/ }).waitFor();
}

async function choose(page, names) {
  const all = page.getByRole("group", { name: "Policies" }).getByRole("checkbox");
  for (const box of await all.all()) {
    const name = (await box.evaluate((input) => input.closest("label").querySelector("strong").textContent));
    if (await box.isEnabled()) {
      await box.setChecked(names.includes(name));
    }
  }
}

async function compare(page) {
  await page.getByRole("button", { name: "Compare" }).click();
  await page.getByRole("region", { name: "Comparison" }).waitFor();
}

/// The rows of the table by their policies: the cells' texts without the differences.
function figures(page) {
  return page.getByRole("region", { name: "Comparison" }).evaluate((region) =>
    Object.fromEntries(
      [...region.querySelectorAll("tbody tr")].map((row) => [
        row.querySelector("th").firstChild.textContent,
        [...row.querySelectorAll("td")].slice(0, 6).map((cell) => cell.querySelector("span").firstChild.textContent),
      ]),
    ),
  );
}

/// "4 m 10 s" in seconds, and how exact that is.
function seconds(text) {
  const units = { d: 86400, h: 3600, m: 60, s: 1 };
  const parts = [...text.matchAll(/([\d.]+) ([dhms])/g)];
  const last = parts.at(-1);
  const digits = (last[1].split(".")[1] ?? "").length;
  return {
    value: parts.reduce((sum, [, number, unit]) => sum + Number(number) * units[unit], 0),
    exact: units[last[2]] * 10 ** -digits,
  };
}

function assertSame(text, value, what) {
  const told = seconds(text);
  // The present queue gets shorter while one looks: what runs has run a little longer.
  assert.ok(Math.abs(told.value - value) <= told.exact + 0.01 * value, `${what}: ${text} is not ${value} s`);
}

async function assertTold(home, page, policies, ...words) {
  const { results } = JSON.parse(await home.berth("whatif", ...words, "--policy", policies.join(","), "--json"));
  const shown = await figures(page);
  assert.deepEqual(Object.keys(shown), results.map(({ policy }) => (policy === "recorded" ? "as it was" : policy)));
  for (const result of results) {
    const [wait, p99, completion, makespan] = shown[result.policy === "recorded" ? "as it was" : result.policy];
    assertSame(wait, result.mean_wait_s, `mean wait of ${result.policy}`);
    assertSame(p99, result.p99_wait_s, `longest wait of ${result.policy}`);
    assertSame(completion, result.mean_completion_s, `completion of ${result.policy}`);
    assertSame(makespan, result.makespan_s, `makespan of ${result.policy}`);
  }
}

/// Long ones first, on one device, in order of submission: another order would serve them better.
async function queue(home) {
  await home.startDaemon();
  await home.berth("daemon", "policy", "fifo");
  await home.berth("daemon", "pause");
  for (const hours of [9, 7, 1, 2, 5]) {
    await home.submit("--expected", `${hours}h`, "--", "true");
  }
}

webTest("the present queue is replayed, and a better policy is taken", { devices: "sim:1x24GiB", prepare: queue }, async ({ home, page }) => {
  await open(page);
  assert.ok(await page.getByRole("checkbox", { name: /^fifo/ }).isDisabled()); // it is in use: always there
  await choose(page, ["sjf", "lpt"]);
  await compare(page);
  await assertTold(home, page, ["fifo", "sjf", "lpt"], "--queue");
  // In a sentence: 10.6 h instead of 14.4 h.
  const { results } = JSON.parse(await home.berth("whatif", "--queue", "--policy", "fifo,sjf", "--json"));
  const percent = Math.round(100 * (1 - results[1].mean_wait_s / results[0].mean_wait_s));
  assert.ok(percent > 10);
  await page.getByText(new RegExp(`^sjf would cut the mean wait by ${percent} %: .* under fifo\\.$`)).waitFor();
  const best = page.getByRole("row", { name: /^sjf/ });
  assert.match(await best.textContent(), /\(best\)/);
  for (const name of ["fifo", "sjf", "lpt"]) {
    await page.getByRole("img", { name: new RegExp(`^5 jobs under ${name} on 1 device`) }).waitFor();
  }
  // The job under the pointer is told in each of them.
  await page.getByRole("img", { name: /under sjf/ }).hover({ position: { x: 45, y: 34 } });
  await page.getByText(/^job 3: starts after 0 s, runs 1 h/).waitFor();
  assert.equal(await page.getByText(/^job 3: starts after/).count(), 3);
  await page.getByRole("button", { name: "Use this: sjf" }).click();
  await page.getByRole("dialog", { name: "Use sjf?" }).getByRole("button", { name: "Use sjf" }).click();
  await page.getByText("Jobs now start by sjf.").waitFor();
  assert.equal(JSON.parse(await home.berth("daemon", "status", "--json")).policy, "sjf");
  await best.getByText("in use").waitFor();
  await page.getByRole("button", { name: "Use this: lpt" }).waitFor();
  assert.equal(await page.getByRole("button", { name: "Use this: sjf" }).count(), 0);
});

webTest("a job with a begin time waits from then on", { devices: "sim:1x24GiB" }, async ({ home, page }) => {
  await home.berth("daemon", "pause");
  await home.submit("--begin", "10h", "--expected", "1h", "--", "true");
  await open(page);
  await choose(page, ["fifo"]);
  await compare(page);
  assert.ok(seconds((await figures(page)).fifo[0]).value < 60, "it has waited for no device");
  await page.getByText("A job with a begin time counts from that time on.").waitFor();
  await page.getByText(/^None of these policies would cut the mean wait/).waitFor();
});

async function ran(home) {
  for (let i = 0; i < 6; i += 1) {
    await home.submit("--", `sleep 0.${6 - i}`);
  }
  await home.berth("wait");
}

webTest("the past is replayed beside what really was", { devices: "sim:2x24GiB", prepare: ran }, async ({ home, page }) => {
  await open(page);
  await choose(page, ["fifo", "sjf", "srtf"]);
  await page.getByText("The past", { exact: true }).click();
  await compare(page);
  await assertTold(home, page, ["priority", "fifo", "sjf", "srtf"]);
  assert.equal(await page.getByRole("button", { name: "Use this: srtf" }).count(), 0); // only the simulator can
  await page.getByRole("img", { name: /^6 jobs under priority/ }).waitFor();
  // On other devices: one alone takes longer.
  const before = (await figures(page)).fifo[3];
  await page.getByRole("textbox", { name: "On other devices" }).fill("1");
  await page.getByRole("button", { name: "Compare" }).click();
  await page.getByRole("img", { name: /under fifo on 1 device/ }).waitFor();
  assert.ok(seconds((await figures(page)).fifo[3]).value > seconds(before).value);
});

webTest("advice comes first", { devices: "sim:2x24GiB", prepare: ran }, async ({ home, page }) => {
  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "What if" }).click();
  const told = page.getByRole("region", { name: "Advice" });
  await told.getByText("Keep priority: 6 jobs are too few to tell policies apart; it takes 200 or more.").waitFor();
  const { sentence } = JSON.parse(await home.berth("sim", "--advise", "--history", "--json"));
  await told.getByText(sentence).waitFor();
});

async function drew(home) {
  for (let i = 0; i < 2; i += 1) {
    await home.submit("--", BERTH, "simjob", "--mem", "1GiB", "--hold", "3s", "--power", "60");
  }
  await home.berth("wait");
}

webTest("the energy of the past is that of the record", { devices: "sim:2x24GiB", prepare: drew }, async ({ page }) => {
  await open(page);
  await choose(page, ["fifo"]);
  await page.getByText("The past", { exact: true }).click();
  await compare(page);
  const shown = await figures(page);
  const [was, computed] = [shown["as it was"], shown.fifo].map((row) => Number(/^[\d.]+/.exec(row[5])[0]));
  // The same jobs at nearly the same times; devices that always drew all they can would take far more.
  assert.ok(was > 0 && Math.abs(computed / was - 1) < 0.3, `${computed} Wh instead of ${was} Wh`);
});

webTest("energy is compared with a budget", { devices: "sim:2x24GiB", prepare: queue, mayFail: /400/ }, async ({ page }) => {
  await open(page);
  await choose(page, ["energy"]);
  const go = page.getByRole("button", { name: "Compare" });
  await go.and(page.locator(":disabled")).waitFor();
  const watts = page.getByRole("textbox", { name: "Watts for energy" });
  await watts.fill("lots");
  await page.getByText("a number of watts").waitFor();
  await watts.fill("10"); // for none
  await go.click();
  await page.getByRole("alert").filter({ hasText: "they may draw 10 W: raise the power budget" }).waitFor();
  await watts.fill("450"); // for one of the two
  await compare(page);
  const shown = await figures(page);
  assert.deepEqual(Object.keys(shown), ["fifo", "energy:450"]);
  assert.ok(seconds(shown["energy:450"][3]).value > seconds(shown.fifo[3]).value);
});

webTest("what cannot be computed is told", { mayFail: /40\d/ }, async ({ home, page }) => {
  await open(page);
  await page.getByRole("button", { name: "Compare" }).click();
  await page.getByRole("alert").filter({ hasText: "no job runs or waits" }).waitFor();
  await home.submit("--hold", "--", "true");
  await page.getByRole("textbox", { name: "On other devices" }).fill("some");
  await page.getByRole("button", { name: "Compare" }).click();
  await page.getByRole("alert").filter({ hasText: "'some'" }).waitFor();
});

webTest("a long computation is stopped", { devices: "sim:1x24GiB", prepare: queue }, async ({ page }) => {
  await open(page);
  // It never ends.
  await page.route("**/v1/whatif", () => undefined);
  await page.getByRole("button", { name: "Compare" }).click();
  const asked = page.waitForEvent("requestfailed");
  await page.getByText(/^Computing,/).waitFor();
  assert.ok(await page.getByRole("button", { name: "Compare" }).isDisabled());
  await page.getByRole("button", { name: "Stop" }).click();
  assert.match((await asked).url(), /\/v1\/whatif$/);
  await page.unroute("**/v1/whatif");
  assert.equal(await page.getByRole("alert").count(), 0);
  await compare(page);
});
