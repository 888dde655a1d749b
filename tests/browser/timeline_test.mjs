// Timeline: past, running and expected jobs, by chart, by keys and as a table.
import assert from "node:assert/strict";
import { eventually, webTest } from "./case.mjs";

async function open(page) {
  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Timeline" }).click();
  await page.getByRole("application").waitFor();
}

function query(page) {
  return new URLSearchParams(page.url().split("?")[1]);
}

/// Where the chart begins and ends, in seconds, once the address tells.
async function view(page, holds = () => true) {
  return eventually(() => {
    const [from, to] = [Number(query(page).get("from")), Number(query(page).get("to"))];
    return from > 0 && holds({ from, to, length: to - from }) && { from, to, length: to - from };
  }, "the address does not tell such a view");
}

/// Where a moment is on the chart of two devices. The names take 24 pixels and 7.5 for each letter of the
/// longest, "no GPU", the scale 28.
async function placeOf(chart, seen, time, row) {
  const box = await chart.boundingBox();
  const gutter = 24 + 6 * 7.5;
  const x = gutter + ((time - seen.from) / seen.length) * (box.width - gutter);
  return { x, y: 28 + ((box.height - 28) / 2) * (row + 0.5) };
}

/// One that ended, one that failed, one that runs and will for an hour, one expected after it.
async function prepare(home) {
  const past = await home.submit("--name", "past", "--only", "0", "--", "sleep 1");
  await home.submit("--name", "broken", "--only", "1", "--", "sleep 1; exit 3");
  await home.until(past, (job) => job.ended !== null);
  await home.submit("--name", "now", "--only", "0", "--expected", "10m", "--", "sleep 600");
  await home.submit("--name", "then", "--only", "0", "--expected", "5m", "--", "sleep 600");
  await home.until(3, (job) => job.state === "running");
}

const devices = "sim:2x24GiB";

webTest("it fits what there is, and the window", { devices, prepare }, async ({ home, page }) => {
  const { started } = await home.job(1);
  await open(page);
  assert.equal(await page.getByRole("button", { name: "Fit" }).getAttribute("aria-pressed"), "true");
  const clock = (time) => new Date(Math.floor(time) * 1000).toLocaleTimeString("en-GB");
  const chart = page.getByRole("application");
  // From the first attempt, or a minute ago where that is less, to the present.
  await eventually(async () => {
    const now = Date.now() / 1000;
    const name = await chart.getAttribute("aria-label");
    const [from, to] = name.match(/\d\d:\d\d:\d\d/g);
    const near = (text, time) => [-2, -1, 0, 1, 2].some((by) => clock(time + by) === text);
    return near(from, Math.min(started, now - 60)) && near(to, now);
  }, "it does not fit");
  await page.getByText("1 job is expected to start later").waitFor();
  const box = await chart.boundingBox();
  const two = box.height;
  assert.ok(two > 400, `${two} pixels`);
  await page.setViewportSize({ width: 1440, height: 500 });
  await eventually(async () => (await chart.boundingBox()).height < two, "it does not follow the window");
});

webTest("past, running and expected jobs as a table, live", { devices, prepare }, async ({ home, page }) => {
  await open(page);
  await page.getByRole("button", { name: "1 h" }).click();
  await page.getByRole("button", { name: "As a table" }).click();
  const table = page.getByRole("region", { name: "Jobs in this time" });
  for (const [name, state] of [["past", "succeeded"], ["broken", "failed"], ["now", "running"], ["then", "expected"]]) {
    await table.getByRole("row", { name: new RegExp(`^${name} ${state}`) }).waitFor();
  }
  const expected = await home.job(4);
  const told = await table.getByRole("row", { name: /^then expected 0/ }).getByRole("cell").nth(5).textContent();
  assert.equal(told, "5 m");
  assert.equal(expected.state, "queued");
  // What happens is shown without a reload.
  await home.berth("kill", "3");
  await table.getByRole("row", { name: /^now cancelled/ }).waitFor();
  await table.getByRole("row", { name: /^then running/ }).waitFor();
  await page.reload();
  await table.getByRole("row", { name: /^then running/ }).waitFor();
  await table.getByRole("link", { name: "now" }).click();
  await page.getByRole("heading", { level: 1, name: "now" }).waitFor();
});

webTest("a job is opened by keys and by a click", { devices, prepare }, async ({ home, page }) => {
  await open(page);
  await page.getByRole("button", { name: "1 h" }).click();
  const chart = page.getByRole("application");
  const told = chart.getByRole("status");
  await chart.focus();
  const heard = [];
  await eventually(async () => {
    await page.keyboard.press("ArrowDown");
    return /past|broken/.test(await told.textContent());
  }, "no job is told");
  for (let i = 0; i < 4; i += 1) {
    heard.push(await told.textContent());
    await page.keyboard.press("ArrowDown");
  }
  for (const words of [/Job 1, past, succeeded/, /Job 2, broken, failed/, /Job 3, now, running/, /Job 4, then, expected/]) {
    assert.ok(heard.some((text) => words.test(text)), `${words} is not in ${heard.join("\n")}`);
  }
  await eventually(async () => {
    await page.keyboard.press("ArrowUp");
    return /Job 4/.test(await told.textContent());
  }, "job 4 is not told");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "then" }).waitFor();

  // By hand: at a fixed view it is known where a job is.
  const { started } = await home.job(3);
  const [from, to] = [Math.floor(started) - 300, Math.floor(started) + 900];
  await page.goto(`${page.url().split("#")[0]}#/timeline?from=${from}&to=${to}`);
  const seen = { from, to, length: to - from };
  const position = await placeOf(chart, seen, started + 120, 0);
  await chart.hover({ position });
  await chart.getByText("Job 3 · running").waitFor();
  await chart.click({ position });
  await page.getByRole("heading", { level: 1, name: "now" }).waitFor();
});

webTest("the chart is moved and zoomed, and the address keeps the view", { devices, prepare }, async ({ home, page }) => {
  const { started } = await home.job(3);
  await open(page);
  const chart = page.getByRole("application");
  const hour = page.getByRole("button", { name: "1 h" });
  await hour.click();
  assert.equal(await hour.getAttribute("aria-pressed"), "true");
  await page.getByRole("button", { name: "6 h" }).click();
  await eventually(() => query(page).get("span") === "21600", "the address does not tell the length");
  await page.getByRole("button", { name: "Zoom in" }).click();
  await eventually(() => Number(query(page).get("span")) === 0.6 * 21600, "the buttons do not zoom");

  await chart.focus();
  await page.keyboard.press("ArrowLeft");
  const first = await view(page);
  assert.ok(first.to < started + 21600 * 0.6);
  await page.keyboard.press("ArrowRight");
  await view(page, ({ from }) => from > first.from);
  await page.keyboard.press("+");
  const near = await view(page, ({ length }) => length < 0.8 * first.length);
  await page.keyboard.press("-");
  const far = await view(page, ({ length }) => length > 1.2 * near.length);

  // The moment under the wheel stays there.
  const box = await chart.boundingBox();
  const gutter = 24 + 6 * 7.5;
  const part = 0.25;
  await page.mouse.move(box.x + gutter + part * (box.width - gutter), box.y + 45);
  await page.mouse.wheel(0, -300);
  const closer = await view(page, ({ length }) => length < 0.8 * far.length);
  const at = ({ from, length }) => from + part * length;
  assert.ok(Math.abs(at(closer) - at(far)) < 0.02 * far.length);

  // Dragging to the right shows what was before, by as much.
  await page.mouse.down();
  await page.mouse.move(box.x + gutter + (part + 0.25) * (box.width - gutter), box.y + 45, { steps: 4 });
  await page.mouse.up();
  const dragged = await view(page, ({ from }) => from < closer.from);
  assert.ok(Math.abs(closer.from - dragged.from - 0.25 * closer.length) < 0.02 * closer.length);
  assert.match(page.url(), /#\/timeline\?/); // a drag opens nothing

  await page.reload();
  await chart.waitFor();
  assert.deepEqual(await view(page), dragged);
  await page.getByRole("button", { name: "Now", exact: true }).click();
  await eventually(() => query(page).get("span") !== null, "it does not go with the present again");
});

webTest("colours are by state, job, sweep or user", { devices, prepare }, async ({ home, page }) => {
  await home.berth("sweep", "true {n}", "-p", "n", "1", "2", "--submit", "--name", "both", "--gpus", "0");
  await open(page);
  await page.getByRole("button", { name: "1 h" }).click();
  const legend = page.getByRole("list", { name: "Colours" });
  const entries = async () => (await legend.getByRole("listitem").allTextContents()).sort();
  const shows = (names) =>
    eventually(async () => (await entries()).join() === names.join(), `the legend does not show ${names.join()}`);
  await shows(["expected", "failed", "running", "succeeded"]);
  await page.getByText("Sweep", { exact: true }).click();
  await shows(["both", "no sweep"]);
  await page.getByText("User", { exact: true }).click();
  await eventually(async () => (await entries()).length === 1, "there is more than one user");
  const ink = () => page.locator("canvas").evaluate((canvas) => canvas.toDataURL());
  const byUser = await ink();
  await page.getByText("Job", { exact: true }).click();
  await eventually(async () => (await entries()).length === 0, "jobs have no legend");
  await eventually(async () => (await ink()) !== byUser, "the colours are the same");
  assert.equal(query(page).get("colour"), "job");
  await page.reload();
  await page.getByRole("application").waitFor();
  assert.ok(await page.getByRole("radio", { name: "Job" }).isChecked());
});
