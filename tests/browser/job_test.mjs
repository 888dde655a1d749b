// One job: what is known of it, its log as it comes, and what can be done with it.
import assert from "node:assert/strict";
import crypto from "node:crypto";
import fs from "node:fs";
import { BERTH, eventually, webTest } from "./case.mjs";

async function openJob(page, origin, id) {
  await page.goto(`${origin}/#/jobs/${id}`);
  await page.getByRole("heading", { level: 1, name: `/${id}` }).waitFor();
}

const region = (page, name) => page.getByRole("region", { name, exact: true });
const fact = (page, name) => region(page, "Details").getByRole("term").filter({ hasText: new RegExp(`^${name}$`) }).locator("+ dd");
const log = (page) => page.getByRole("log", { name: "Output" });
const lines = (page, count) => page.getByRole("combobox", { name: "Lines" }).selectOption(String(count));
const button = (page, name) => page.getByRole("button", { name, exact: true });
const badge = (page, words) => page.locator(".job-heading").getByText(words, { exact: true }).waitFor();

webTest("all that is known of a job", {}, async ({ home, page, origin }) => {
  Object.assign(home.env, { WANDB_API_KEY: "very-secret", PLAIN_VALUE: "can be seen" });
  const words = ["--name", "train", "--project", "vision", "--label", "kind=test", "--timeout", "2h", "--expected", "1h"];
  const id = await home.submit(...words, "--mem", "4GiB", "--retries", "2", "--", "echo line one; exit 3");
  await home.until(id, (job) => job.state === "failed");
  await openJob(page, origin, id);
  await page.getByRole("heading", { level: 1, name: `vision/train/${id}` }).waitFor();
  await badge(page, "failed");
  const history = region(page, "History");
  await history.getByText("Submitted by").waitFor();
  await history.getByText("Attempt 3 started on GPU").waitFor();
  await history.getByText("exit 3").last().waitFor();
  assert.equal(await region(page, "Attempts").getByRole("row").count(), 4);
  assert.match(await region(page, "Attempts").getByRole("row").nth(1).innerText(), /^3\s+failed\s/);
  for (const [name, text] of [["Exit", "exit 3"], ["Time limit", "2 h"], ["Expected", "1 h"], ["Claim", "4 GiB on each GPU"], ["Needs", "1 GPU"], ["Directory", home.folder]]) {
    assert.equal(await fact(page, name).innerText(), text, name);
  }
  assert.equal(await region(page, "Command").locator("pre").innerText(), "echo line one; exit 3");

  await page.getByRole("heading", { name: "Environment" }).click();
  await page.getByRole("searchbox", { name: "Filter the environment" }).fill("wandb");
  const environment = page.locator("details.environment dl");
  assert.match(await environment.innerText(), /^WANDB_API_KEY\s+\*+$/);
  await page.getByRole("searchbox", { name: "Filter the environment" }).fill("plain_value");
  assert.match(await environment.innerText(), /^PLAIN_VALUE\s+can be seen$/);
  assert.doesNotMatch(await page.content(), /very-secret/);

  await log(page).getByText("line one").waitFor();
  await page.getByRole("combobox", { name: "Attempt" }).selectOption("1");
  await log(page).getByText("line one").waitFor();
  await button(page, "Copy the command").click();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), "echo line one; exit 3");
  await fact(page, "Labels").getByRole("link", { name: "kind=test" }).click();
  await page.getByRole("grid", { name: "Jobs" }).locator(`[data-id="${id}"]`).waitFor();

});

webTest("a job that is not there", { mayFail: /404/ }, async ({ page, origin }) => {
  await page.goto(`${origin}/#/jobs/999`);
  await page.getByText("There is no job 999").waitFor();
});

webTest("who can pass a job that waits", { devices: "sim:1x24GiB" }, async ({ home, page, origin }) => {
  const gate = home.makeGate("gate");
  await home.submit("--", `read x < ${gate.path}`);
  const id = await home.submit("--expected", "10m", "--", "true");
  await openJob(page, origin, id);
  const told = page.getByText("Why it waits:").locator("..");
  await told.getByText(/; a job of its length \(about 10 m\) is passed only by jobs of its owner and priority that are submitted within 3 h 1\d m of it, that is until [-\d: ]+$/).waitFor();
});

webTest("why it waits, and what can be done with it", { devices: "sim:1x24GiB" }, async ({ home, page, origin }) => {
  const gate = home.makeGate("gate");
  const first = await home.submit("--", `read x < ${gate.path}`);
  const id = await home.submit("--name", "second", "--after", `ok:${first}`, "--expected", "10m", "--", "true");
  await openJob(page, origin, id);
  await page.getByText("Why it waits:").locator("..").getByText(`${first}`).waitFor();
  assert.equal(await fact(page, "After").innerText(), `job ${first} has succeeded`);
  assert.equal(await fact(page, "After").getByRole("link").getAttribute("href"), `#/jobs/${first}`);
  for (const name of ["Pause", "Rerun"]) {
    assert.ok(await button(page, name).isDisabled(), name);
  }
  await button(page, "Hold").click();
  await badge(page, "held");
  assert.equal((await home.job(id)).state, "held");

  await button(page, "Edit").click();
  const dialog = page.getByRole("dialog", { name: `Edit job ${id}` });
  await dialog.getByLabel("Name", { exact: true }).fill("changed <b>");
  await dialog.getByLabel("Command").fill("echo changed\necho twice");
  await dialog.getByLabel("Priority").fill("ten");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.getByRole("alert").waitFor();
  await dialog.getByLabel("Priority").fill("-3");
  await dialog.getByLabel("GPU memory").fill("3GiB");
  await dialog.getByLabel("Time limit").fill("1h30m");
  await dialog.getByRole("button", { name: "Save" }).click();
  await page.getByRole("heading", { level: 1, name: `changed <b>/${id}` }).waitFor();
  const edited = await home.job(id);
  assert.deepEqual(
    [edited.name, edited.command, edited.priority, edited.mem, edited.timeout_s, edited.expected_s],
    ["changed <b>", "echo changed\necho twice", -3, 3 * 2 ** 30, 5400, 600],
  );
  await button(page, "Release").click();
  await badge(page, "queued");
  await gate.open();
  await badge(page, "succeeded");
  await log(page).getByText("twice").waitFor();
  await button(page, "Rerun").click();
  await region(page, "Attempts").getByRole("row").nth(2).waitFor();
  await home.until(id, (job) => job.attempt === 2 && job.state === "succeeded");

  await page.getByRole("link", { name: "Clone" }).click();
  await page.getByRole("heading", { level: 1, name: "Add jobs" }).waitFor();
  await page.getByText(`Like job ${id}`).waitFor();
  assert.equal(await page.getByLabel("Command").first().inputValue(), "echo changed\necho twice");
});

webTest("pausing and killing what runs, and its use", {}, async ({ home, page, origin }) => {
  const id = await home.submit("--name", "runs", "--mem", "8GiB", "--", BERTH, "simjob", "--mem", "6GiB", "--hold", "1h", "--util", "80");
  await openJob(page, origin, id);
  await badge(page, "running");
  const { pid } = await home.until(id, (job) => job.pid > 0);
  await fact(page, "PID").getByText(String(pid), { exact: true }).waitFor();
  for (const name of ["GPU memory of the job over time", "Utilisation of the job's devices over time"]) {
    await page.getByRole("img", { name }).locator("canvas").waitFor();
  }
  await button(page, "Pause").click();
  await badge(page, "paused");
  await home.until(id, (job) => job.paused);
  await button(page, "Resume").click();
  await badge(page, "running");
  await home.until(id, (job) => !job.paused);
  await button(page, "Kill").click();
  await page.getByRole("dialog").getByRole("button", { name: "No" }).click();
  assert.equal((await home.job(id)).state, "running");
  await button(page, "Kill").click();
  await page.getByRole("dialog").getByRole("button", { name: "Kill" }).click();
  await badge(page, "cancelled");
  assert.equal((await home.job(id)).state, "cancelled");
  await eventually(async () => /6 GiB/.test(await fact(page, "Peak memory").innerText()), "its peak is not told");
  await page.getByRole("img", { name: "GPU memory of the job over time" }).locator("canvas").waitFor();
});

webTest("a log that grows, in colours", {}, async ({ home, page, origin }) => {
  // Two gates: a reader could still meet the writer who opened the first.
  const gate = home.makeGate("gate");
  const end = home.makeGate("end");
  const script = `${home.folder}/script.sh`;
  fs.writeFileSync(
    script,
    String.raw`
printf 'plain \033[31mred\033[0m \033[1;38;2;10;200;30mtrue colour\033[0m <b>not bold</b> \360\237\232\242\n'
printf 'progress 1\rprogress 2\rprogress 100\n'
for i in $(seq 1500); do echo "line $i"; done
echo "to the errors" >&2
read x < ${gate.path}
echo "the last line"
read x < ${end.path}
`,
  );
  const id = await home.submit("-e", `${home.folder}/errors`, "--", `sh ${script}`);
  await openJob(page, origin, id);
  await log(page).getByText("line 1500", { exact: true }).waitFor();
  await page.getByText("live", { exact: true }).nth(1).waitFor();
  await gate.open();
  await log(page).getByText("the last line").waitFor(); // and it is in view
  await lines(page, 100);
  await log(page).getByText("the last line").waitFor();
  await log(page).evaluate((element) => (element.scrollTop = 0));
  await log(page).getByText("line 1402", { exact: true }).waitFor();
  assert.equal(await button(page, "Follow").getAttribute("aria-pressed"), "false");
  await lines(page, -1);
  await log(page).getByText("the last line").waitFor();
  await log(page).evaluate((element) => (element.scrollTop = 0));
  const colour = (words) => log(page).getByText(words, { exact: true }).evaluate((element) => getComputedStyle(element).color);
  // Dark enough to be read on white, and of the colour that was asked for.
  const [red, green, blue] = (await colour("red")).match(/\d+/g).map(Number);
  assert.ok(red > 150 && green < 100 && blue < 100, "red is red");
  const [r, g, b] = (await colour("true colour")).match(/\d+/g).map(Number);
  assert.ok(g > 100 && r < 20 && b < 40, "green is green");
  await log(page).getByText("<b>not bold</b> 🚢").waitFor();
  await log(page).getByText("progress 100", { exact: true }).waitFor();
  assert.equal(await log(page).getByText("progress 1", { exact: true }).count(), 0);

  const search = page.getByRole("searchbox", { name: "Search the log" });
  await search.fill("LINE 77");
  await page.getByText("1 of 11").waitFor(); // 77, 770–779
  await page.keyboard.press("Enter");
  await page.getByText("2 of 11").waitFor();
  assert.equal(await log(page).locator("mark.current").innerText(), "line 77");
  await page.keyboard.press("Shift+Enter");
  await page.keyboard.press("Shift+Enter");
  await page.getByText("11 of 11").waitFor();
  await log(page).getByText("line 779").first().waitFor();
  await search.fill("no such text");
  await page.getByText("not found").waitFor();
  await search.fill("");
  await page.getByRole("combobox", { name: "Output" }).selectOption("Errors");
  await log(page).getByText("to the errors", { exact: true }).waitFor();
  await end.open();
  await page.getByText("complete", { exact: true }).waitFor();
});

webTest("a log that is left while it scrolls", {}, async ({ home, page, origin }) => {
  const id = await home.submit("--", "seq 1000");
  await openJob(page, origin, id);
  await log(page).getByText("1000", { exact: true }).waitFor();
  const list = await log(page).elementHandle();
  await page.goto(`${origin}/#/jobs`);
  await page.getByRole("grid", { name: "Jobs" }).waitFor();
  // A browser tells of a scroll with the next frame; this one comes when the list is gone.
  await list.evaluate((element) => element.dispatchEvent(new Event("scroll")));
});

webTest("a search goes through the whole log", {}, async ({ home, page, origin }) => {
  const line = `process.stdout.write("line " + i + (i % 4000 === 10 ? " needle " : " hay ") + "x".repeat(60) + "\\n")`;
  fs.writeFileSync(`${home.folder}/write.mjs`, `for (let i = 1; i <= 12000; i += 1) ${line}`);
  const id = await home.submit("--", process.execPath, `${home.folder}/write.mjs`);
  await home.until(id, (job) => job.state === "succeeded");
  await openJob(page, origin, id);
  await log(page).getByText(/^line 12000 /).waitFor();
  assert.equal(await log(page).getByText("needle").count(), 0); // the last lines have none
  // The second piece waits until it was seen that the first was searched.
  let goOn;
  const seen = new Promise((resolve) => (goOn = resolve));
  await page.route(/\/log\?.*offset=[1-9]/, async (route) => {
    await seen;
    await route.continue();
  });
  await page.getByRole("searchbox", { name: "Search the log" }).fill("needle");
  await page.getByText(/^1 of 1 · 256 KiB searched …$/).waitFor();
  goOn();
  await page.getByText("1 of 3", { exact: true }).waitFor();
  await log(page).getByText(/^line 10 /).waitFor();
  await page.keyboard.press("Shift+Enter");
  await page.getByText("3 of 3", { exact: true }).waitFor();
  await log(page).getByText(/^line 8010 /).waitFor();
});

webTest("what became of a job is told first", { devices: "sim:1x24GiB" }, async ({ home, page, origin }) => {
  const failed = await home.submit("--", "echo begun; echo it went wrong; exit 3");
  await home.until(failed, (job) => job.state === "failed");
  await openJob(page, origin, failed);
  const verdict = page.getByRole("region", { name: /^Failed with exit 3 after/ });
  assert.equal((await verdict.locator("pre").innerText()).trim(), "begun\nit went wrong");
  const top = async (place) => (await place.boundingBox()).y;
  const order = [verdict, region(page, "Log"), region(page, "Command")];
  const tops = await Promise.all(order.map(top));
  assert.deepEqual([...tops].sort((a, b) => a - b), tops, "verdict, log, command");
  assert.equal(await verdict.getByRole("link", { name: "Clone" }).getAttribute("href"), `#/add/form?clone=${failed}`);
  await verdict.getByRole("button", { name: "Rerun" }).click();
  await home.until(failed, (job) => job.attempt === 2 && job.state === "failed");

  const held = await home.submit("--hold", "--", "true");
  await openJob(page, origin, held);
  await page.getByText("The log begins when the job starts.").waitFor();
  await home.berth("kill", String(held));
  await page.getByRole("region", { name: "Cancelled before it started." }).waitFor();
  await page.getByText("The job never started, so it has no log.").waitFor();
  assert.equal(await page.getByText(/begins when/).count(), 0);
});

webTest("the tab says what is shown", {}, async ({ home, page, origin }) => {
  const titled = (text) => eventually(async () => (await page.title()) === text, `the title is not ${text}`);
  await titled("Overview – berth");
  const gate = home.makeGate("gate");
  const id = await home.submit("--", `read x < ${gate.path}; exit 3`);
  await titled("1 running – berth");
  await openJob(page, origin, id);
  await titled(`job ${id} running – berth`);
  await gate.open();
  await titled(`job ${id} failed – berth`);
  await page.goto(`${origin}/#/jobs`);
  await titled("1 job – berth");
  for (const [place, text] of [["timeline", "Timeline"], ["sweeps", "Sweeps"], ["sweeps/lr", "sweep lr"], ["whatif", "What if"], ["devices", "Devices"], ["add", "Add jobs"]]) {
    await page.goto(`${origin}/#/${place}`);
    await titled(`${text} – berth`);
  }
});

webTest("a log of 50 MB", {}, async ({ home, page, origin }) => {
  const program = `for (let i = 0; i < 500; ++i) process.stdout.write(Array.from({length: 1000}, (_, k) => "epoch " + (i * 1000 + k + 1) + " " + "x".repeat(88)).join("\\n") + "\\n")`;
  const script = `${home.folder}/write.mjs`;
  fs.writeFileSync(script, program);
  const id = await home.submit("--name", "long", "--", process.execPath, script);
  const { log: file } = await home.until(id, (job) => job.state === "succeeded");
  assert.ok(fs.statSync(file).size > 50e6);
  await openJob(page, origin, id);
  await log(page).getByText(/^epoch 500000 /).waitFor();
  await lines(page, -1);
  await page.getByText("complete", { exact: true }).waitFor();
  await log(page).getByText(/^epoch 500000 /).waitFor();
  const rows = () => log(page).locator(".log-row").count();
  assert.ok((await rows()) < 150, "only what is near the view is in the document");
  await log(page).evaluate((element) => (element.scrollTop = 0));
  await log(page).getByText(/^epoch 1 /).waitFor();
  await log(page).evaluate((element) => (element.scrollTop = element.scrollHeight / 2));
  await log(page).getByText(/^epoch 25\d{4} /).first().waitFor();
  assert.ok((await rows()) < 150);
  await page.getByRole("searchbox", { name: "Search the log" }).fill("epoch 123456 ");
  await page.keyboard.press("Enter");
  await log(page).locator("mark", { hasText: "epoch 123456" }).waitFor();

  const [download] = await Promise.all([page.waitForEvent("download"), button(page, "Download").click()]);
  assert.equal(download.suggestedFilename(), `long-${id}.log`);
  const hash = (path) => crypto.createHash("sha256").update(fs.readFileSync(path)).digest("hex");
  assert.equal(hash(await download.path()), hash(file));
});
