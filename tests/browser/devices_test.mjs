// Devices and scheduler: what is changed there is changed at the daemon's.
import assert from "node:assert/strict";
import { eventually, webTest } from "./case.mjs";

async function open(page) {
  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Devices" }).click();
  await page.getByRole("heading", { level: 1, name: "Devices and scheduler" }).waitFor();
}

function device(page, name) {
  return page.getByRole("row", { name: new RegExp(`^${name} `) });
}

function button(page, name) {
  return page.getByRole("button", { name, exact: true });
}

async function answer(page, title, yes) {
  const dialog = page.getByRole("dialog", { name: title });
  await dialog.getByRole("button", { name: yes, exact: true }).click();
  await dialog.waitFor({ state: "detached" });
}

async function states(home) {
  const { gpus } = JSON.parse(await home.berth("gpus", "list", "--json"));
  return Object.fromEntries(gpus.map((gpu) => [gpu.name, gpu.state]));
}

async function daemon(home) {
  return JSON.parse(await home.berth("daemon", "status", "--json"));
}

webTest("a device is drained and undrained, and its job goes on", { devices: "sim:2x24GiB" }, async ({ home, page }) => {
  const job = await home.submit("--only", "1", "--", "sleep 600");
  await home.until(job, ({ state }) => state === "running");
  await open(page);
  await button(page, "Drain 0").click(); // nothing runs there: nothing is asked
  await device(page, "0").getByText("drained").waitFor();
  await button(page, "Drain 1").click();
  await answer(page, "Drain device 1?", "No");
  assert.deepEqual(await states(home), { 0: "drained", 1: "ok" });
  await button(page, "Drain 1").click();
  await answer(page, "Drain device 1?", "Drain");
  await device(page, "1").getByText("drained").waitFor();
  assert.deepEqual(await states(home), { 0: "drained", 1: "drained" });
  assert.equal((await home.job(job)).state, "running");
  const waiting = await home.submit("--", "true");
  assert.equal((await home.job(waiting)).state, "queued");
  await button(page, "Undrain 0").click();
  await device(page, "0").getByText("ok").waitFor();
  await home.until(waiting, ({ state }) => state === "succeeded");
  // What others do is seen at once.
  await home.berth("gpus", "undrain", "1");
  await device(page, "1").getByText("ok").waitFor();
});

webTest("devices are added and removed", { devices: "sim:2x24GiB", mayFail: /40\d/ }, async ({ home, page }) => {
  await open(page);
  const names = page.getByRole("textbox", { name: "Add devices" });
  await names.fill("nonsense:1");
  await names.press("Enter");
  await page.getByText("'nonsense:1' names no device").waitFor();
  assert.equal(await names.inputValue(), "nonsense:1"); // to be mended
  await assert.rejects(home.berth("gpus", "add", "nonsense:1"), /names no device/);
  assert.deepEqual(Object.keys(await states(home)), ["0", "1"]);
  await names.fill("7");
  await names.press("Enter");
  await page.getByText("no driver here shows a device 7").waitFor();
  await names.fill("trust:7");
  await button(page, "Add").click();
  await device(page, "7").waitFor();
  assert.deepEqual(await states(home), { 0: "ok", 1: "ok", 7: "ok" });
  await button(page, "Remove 1").click();
  await answer(page, "Remove device 1?", "No");
  assert.equal(Object.keys(await states(home)).length, 3);
  await button(page, "Remove 1").click();
  await answer(page, "Remove device 1?", "Remove");
  await device(page, "1").waitFor({ state: "detached" });
  assert.deepEqual(Object.keys(await states(home)), ["0", "7"]);
  await names.fill("1");
  await names.press("Enter");
  await device(page, "1").waitFor();
  assert.equal((await states(home))[1], "ok");
});

webTest("the scheduler is paused and resumed", {}, async ({ home, page }) => {
  await open(page);
  await button(page, "Pause").click();
  await answer(page, "Pause the scheduler?", "Pause");
  await page.getByText("The scheduler is paused: nothing starts.").waitFor();
  assert.equal((await daemon(home)).paused, true);
  const job = await home.submit("--", "true");
  assert.match(await home.berth("why", String(job)), /paused/);
  await button(page, "Resume").click();
  await home.until(job, ({ state }) => state === "succeeded");
  assert.equal((await daemon(home)).paused, false);
  await page.getByText("The scheduler is paused: nothing starts.").waitFor({ state: "detached" });
  await home.berth("daemon", "pause");
  await page.getByText("The scheduler is paused: nothing starts.").waitFor();
});

webTest("policy and placement are chosen", {}, async ({ home, page }) => {
  await open(page);
  const policy = page.getByRole("combobox", { name: /^Policy/ });
  const placement = page.getByRole("combobox", { name: /^Placement/ });
  const shows = (choice, value) => eventually(async () => (await choice.inputValue()) === value, `it is not ${value}`);
  await policy.selectOption("fair");
  await answer(page, "Use fair?", "No");
  await shows(policy, "priority");
  assert.equal((await daemon(home)).policy, "priority");
  await policy.selectOption("fair");
  await answer(page, "Use fair?", "Use fair");
  await page.getByText("Jobs now start by fair.").waitFor();
  assert.equal((await daemon(home)).policy, "fair");
  await placement.selectOption("spread");
  await answer(page, "Use spread?", "Use spread");
  await page.getByText("Devices are now chosen by spread.").waitFor();
  assert.deepEqual([(await daemon(home)).policy, (await daemon(home)).placement], ["fair", "spread"]);
  // No preemptive one: live jobs are not stopped and started.
  assert.ok(!(await policy.getByRole("option").allTextContents()).includes("srtf"));
  await home.berth("daemon", "policy", "sjf+easy");
  await shows(policy, "sjf+easy");
});

webTest("energy asks for its budget", {}, async ({ home, page }) => {
  await open(page);
  const policy = page.getByRole("combobox", { name: /^Policy/ });
  await policy.selectOption("energy");
  const dialog = page.getByRole("dialog", { name: "Use energy?" });
  const watts = dialog.getByRole("textbox", { name: /watts/ });
  await dialog.getByRole("button", { name: "Use energy" }).click();
  await dialog.getByText("a number of watts").waitFor();
  await watts.fill("much");
  await watts.press("Enter");
  assert.equal((await daemon(home)).policy, "priority");
  await watts.fill("500");
  await watts.press("Enter");
  await page.getByText("Jobs now start by energy:500.").waitFor();
  assert.equal((await daemon(home)).policy, "energy:500");
  assert.equal(await policy.inputValue(), "energy:500");
  // Four devices draw 50 W each when idle, one with a job up to 350 W: that is all that may run.
  const first = await home.submit("--", "sleep 600");
  await home.until(first, ({ state }) => state === "running");
  const second = await home.submit("--", "true");
  assert.match(await home.berth("why", String(second)), /may draw 500 W/);
  await policy.selectOption("energy");
  await dialog.waitFor();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await eventually(async () => (await policy.inputValue()) === "energy:500", "it does not show what is in use");
});
