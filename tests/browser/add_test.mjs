// Adding jobs: by the form, as a text, as a sweep, as a CSV file. What counts is what the daemon
// tells about them afterwards.
import assert from "node:assert/strict";
import fs from "node:fs";
import { eventually, webTest } from "./case.mjs";

const GiB = 2 ** 30;

async function open(page, way) {
  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Add jobs" }).click();
  await page.getByRole("navigation", { name: "Ways to add jobs" }).getByRole("link", { name: way, exact: true }).click();
}

function field(page, name) {
  return page.getByRole("textbox", { name, exact: true });
}

function button(page, name) {
  return page.getByRole("main").getByRole("button", { name, exact: true });
}

/// The number of the job that the page says is queued.
async function queued(page) {
  const text = await page.getByRole("main").getByText(/^Jobs? \d+ .*queued\./).textContent();
  return Number(/\d+/.exec(text)[0]);
}

async function allJobs(home) {
  return JSON.parse(await home.berth("queue", "--all", "--json")).jobs;
}

async function problems(page) {
  const list = page.getByRole("status").filter({ hasText: "nothing can be queued yet" }).getByRole("listitem");
  await list.first().waitFor();
  return (await list.allTextContents()).map((text) => text.replace(/\s+/g, " ").trim());
}

webTest("every field of the form arrives", {}, async ({ home, page }) => {
  const first = await home.submit("--hold", "--", "true");
  await open(page, "One job");
  await field(page, "Command").fill("echo hello\necho second line");
  await field(page, "Name").fill("  train <b>☃</b> ");
  await field(page, "Project").fill("vision");
  await field(page, "GPUs").fill("2");
  await page.getByRole("combobox", { name: "GPU memory" }).selectOption({ label: "this much" });
  await field(page, "Memory per GPU").fill("1.5GiB");
  await field(page, "Priority").fill("-3");
  await field(page, "Time limit").fill("2h30m");
  await field(page, "Directory").fill(home.folder);
  await page.getByText("More", { exact: true }).click();
  await field(page, "Expected time").fill("90s");
  await field(page, "Retries").fill("2");
  await field(page, "Weight").fill("7");
  await field(page, "Starts after").fill(`any:${first}`);
  await field(page, "Labels").fill("team=a, paper=neurips");
  await field(page, "Output file").fill("logs/%j.txt");
  await field(page, "Environment").fill("SEED=42\nGREETING=a=b c");
  await page.getByRole("checkbox", { name: /^Hold it/ }).check();
  await button(page, "Queue the job").click();
  const job = await home.job(await queued(page));
  assert.equal(job.command, "echo hello\necho second line");
  assert.equal(job.name, "train <b>☃</b>");
  assert.equal(job.project, "vision");
  assert.equal(job.gpus_needed, 2);
  assert.equal(job.mem, 1.5 * GiB);
  assert.equal(job.priority, -3);
  assert.equal(job.timeout_s, 9000);
  assert.equal(job.directory, home.folder);
  assert.equal(job.expected_s, 90);
  assert.equal(job.retries, 2);
  assert.equal(job.weight, 7);
  assert.deepEqual(job.after, [`any:${first}`]);
  assert.deepEqual(job.labels, { team: "a", paper: "neurips" });
  assert.equal(job.output, "logs/%j.txt");
  assert.ok(job.environment.includes("SEED=42") && job.environment.includes("GREETING=a=b c"), job.environment.join(" "));
  assert.equal(job.state, "held");
});

webTest("what is wrong in the form is told beside it", { mayFail: /40\d/ }, async ({ home, page }) => {
  await open(page, "One job");
  const queue = button(page, "Queue the job");
  assert.ok(await queue.isDisabled()); // there is no command yet
  await field(page, "Command").fill("true");
  await page.getByText("More", { exact: true }).click();
  await page.getByRole("combobox", { name: "GPU memory" }).selectOption({ label: "this much" });
  for (const [name, wrong, says, right] of [
    ["Memory per GPU", "much", "is not a size", "2GB"],
    ["Time limit", "2 fortnights", "is not a time", "1d"],
    ["GPUs", "one", "is not a whole number", "1"],
    ["Priority", "1.5", "is not a whole number", "1"],
    ["Directory", "here", "begins with /", "/tmp"],
    ["Starts after", "first", "is no job to wait for", ""],
    ["Labels", "team", "is not a label", "team=a"],
    ["Environment", "SEED", "is not a variable", "SEED=1"],
  ]) {
    await field(page, name).fill(wrong);
    const error = page.getByText(says);
    await error.waitFor();
    assert.equal(await field(page, name).getAttribute("aria-describedby"), await error.getAttribute("id"), name);
    assert.ok(await queue.isDisabled(), name);
    await field(page, name).fill(right);
    await error.waitFor({ state: "detached" });
  }
  // What only the daemon can know, it tells.
  await field(page, "Starts after").fill("77");
  await queue.click();
  await page.getByRole("alert").filter({ hasText: "there is no job 77" }).waitFor();
  await field(page, "Starts after").fill("");
  await queue.click();
  const job = await home.job(await queued(page));
  assert.equal(job.mem, 2e9);
  assert.equal(job.timeout_s, 86400);
  assert.equal((await allJobs(home)).length, 1);
});

webTest("a double click queues once, and once more is asked for", {}, async ({ home, page }) => {
  await open(page, "One job");
  await field(page, "Command").fill("true");
  await button(page, "Queue the job").evaluate((element) => {
    element.click();
    element.click(); // before the page can have changed
  });
  await queued(page);
  assert.ok(await button(page, "Queue the job").isDisabled());
  assert.equal((await allJobs(home)).length, 1);
  await button(page, "Once more").click();
  await button(page, "Queue the job").click();
  await eventually(async () => (await queued(page)) === 2, "it was not queued once more");
  assert.equal((await allJobs(home)).length, 2);
});

webTest("an answer that gets lost queues nothing twice", { mayFail: /ERR_FAILED/ }, async ({ home, page }) => {
  await open(page, "One job");
  await field(page, "Command").fill("true");
  let lost = 0;
  await page.route("**/v1/jobs", async (route) => {
    await route.fetch(); // the daemon has it
    lost += 1;
    await route.abort();
  });
  await button(page, "Queue the job").click();
  await page.getByRole("alert").filter({ hasText: "not queued twice" }).waitFor();
  assert.equal(lost, 1);
  assert.equal((await allJobs(home)).length, 1);
  await page.unroute("**/v1/jobs");
  await button(page, "Queue the job").click();
  assert.equal(await queued(page), 1);
  assert.equal((await allJobs(home)).length, 1);
});

webTest("a clone is like its job, with its environment", {}, async ({ home, page, origin }) => {
  home.env.BERTH_FLAVOUR = "only-of-the-first"; // the daemon runs already, without it
  const file = `${home.folder}/flavour`;
  const words = ["--name", "first", "--project", "vision", "--mem", "2GiB", "--timeout", "1h", "--priority", "4", "--exclude", "0"];
  const id = await home.submit(...words, "--", `printf %s "$BERTH_FLAVOUR/$MORE" > ${file}`);
  await home.until(id, (job) => job.state === "succeeded");
  await page.goto(`${origin}/#/add/form?clone=${id}`);
  await page.getByText(`with its environment`).waitFor();
  assert.equal(await field(page, "Memory per GPU").inputValue(), "2GiB");
  assert.equal(await field(page, "Time limit").inputValue(), "1h");
  await field(page, "Name").fill("second");
  await page.getByText("More", { exact: true }).click();
  await field(page, "Environment").fill("MORE=of-the-second");
  await button(page, "Queue the job").click();
  const clone = await home.until(await queued(page), (job) => job.state === "succeeded");
  assert.equal(fs.readFileSync(file, "utf8"), "only-of-the-first/of-the-second");
  const before = await home.job(id);
  assert.notEqual(clone.id, id);
  assert.equal(clone.name, "second");
  for (const name of ["project", "command", "mem", "timeout_s", "priority", "directory", "exclude"]) {
    assert.deepEqual(clone[name], before[name], name);
  }
});

webTest("a text is shown as it is understood, and queued all or none", {}, async ({ home, page }) => {
  await open(page, "Text");
  const text = field(page, "Jobs");
  await text.fill("@name=one @gpus=2 @mem=8GiB echo 1\n# a remark\n@nam=two echo 2\n@gpus=many echo 3\n");
  assert.deepEqual(
    (await problems(page)).map((one) => /^Line \d+, column \d+/.exec(one)?.[0]),
    ["Line 3, column 1", "Line 4, column 1"],
  );
  assert.match((await problems(page))[0], /@?nam/);
  assert.ok(await page.getByRole("button", { name: /^Queue/ }).isDisabled());
  await page.getByRole("button", { name: "Line 4, column 1" }).click();
  assert.equal(
    await text.evaluate((area) => area.value.slice(area.selectionStart, area.selectionStart + 10)),
    "@gpus=many",
  );
  assert.ok(await text.evaluate((area) => area === document.activeElement));
  assert.equal((await allJobs(home)).length, 0);
  await text.fill("@name=one @gpus=2 @mem=8GiB echo 1\n# a remark\n@name=two @mem=off @after=ok:one echo 2 <b>\n");
  const table = page.getByRole("region", { name: "What would be queued" });
  await table.getByRole("row", { name: /one 2 8 GiB echo 1/ }).waitFor();
  await table.getByRole("row", { name: /two 1 off echo 2 <b>/ }).waitFor();
  await field(page, "Project").fill("vision");
  await button(page, "Queue 2 jobs").click();
  const first = await queued(page);
  const [one, two] = [await home.job(first), await home.job(first + 1)];
  assert.deepEqual([one.name, one.project, one.gpus_needed, one.mem], ["one", "vision", 2, 8 * GiB]);
  assert.deepEqual([two.name, two.claim, two.after, two.command], ["two", "off", [`ok:${first}`], "echo 2 <b>"]);
  assert.equal((await allJobs(home)).length, 2);
});

webTest("NAME;;OUTFILE;;COMMAND;;; runs and writes its file", {}, async ({ home, page }) => {
  await open(page, "Text");
  await page.getByText("NAME;;OUTFILE;;COMMAND;;;").first().click();
  const text = field(page, "Jobs");
  await text.fill("good;;out/good.txt;;echo fine;;;\nbad;;missing its command");
  assert.match((await problems(page))[0], /^Line 2, column \d+/);
  await text.fill("good;;out/good.txt;;echo fine;;;\nlong;;out/long.txt;;echo a\necho b;;;\n");
  await field(page, "Directory").fill(home.folder);
  fs.mkdirSync(`${home.folder}/out`);
  await button(page, "Queue 2 jobs").click();
  const first = await queued(page);
  for (const [id, file, says] of [[first, "good", "fine\n"], [first + 1, "long", "a echo b\n"]]) {
    const job = await home.until(id, (one) => one.ended !== null);
    assert.equal(job.state, "succeeded");
    assert.equal(job.name, file);
    assert.equal(fs.readFileSync(`${home.folder}/out/${file}.txt`, "utf8"), says);
  }
  await open(page, "Text");
  await page.getByText("NAME;;OUTFILE;;COMMAND;;;").first().click();
  await text.fill("good;;out/good.txt;;echo again;;;");
  assert.match((await problems(page))[0], /good\.txt exists already/);
  await page.getByText("Overwrite output files that exist").click();
  await button(page, "Queue 1 job").click();
  await home.until(await queued(page), (one) => one.ended !== null);
  assert.match(fs.readFileSync(`${home.folder}/out/good.txt`, "utf8"), /again\n/);
});

webTest("a sweep is built, previewed, queued, and shown", { devices: "sim:2x24GiB" }, async ({ home, page }) => {
  await open(page, "Sweep");
  await field(page, "Command").fill("echo --lr {lr} --bs {bs}");
  await button(page, "Values for {lr}").click();
  await field(page, "Values 1").fill("0.1 0.01 0.001");
  await button(page, "Values for {bs}").click();
  await field(page, "Values 2").fill("pow2:16..64");
  const preview = page.getByRole("region", { name: "What would be queued" });
  await page.getByText("9 jobs would be queued").waitFor();
  await preview.getByRole("row", { name: /32 0.01 .*echo --lr 0.01 --bs 32/ }).waitFor();
  await field(page, "Only where").fill("bs < 64 or lr <");
  await problems(page);
  await field(page, "Only where").fill("bs < 64 or lr < 0.01");
  await page.getByText("7 jobs would be queued").waitFor();
  assert.ok(await button(page, "Queue 7 jobs").isDisabled()); // without a name
  await field(page, "Name").fill("lr search/1");
  await button(page, "Queue 7 jobs").click();
  await page.getByRole("heading", { level: 1, name: "lr search/1" }).waitFor();
  await page.getByText("7 of 7 ended").waitFor();
  const jobs = await allJobs(home);
  assert.equal(jobs.length, 7);
  assert.ok(jobs.every((job) => job.sweep === "lr search/1"));
  assert.deepEqual(jobs[1].parameters, { lr: "0.1", bs: "32" });

  // A sample: the same seed gives the same points.
  await open(page, "Sweep");
  await field(page, "Only where").fill("");
  await page.getByRole("combobox", { name: "Points" }).selectOption({ label: "a random sample" });
  await field(page, "How many").fill("4");
  await page.getByText("4 jobs would be queued").waitFor();
});

const tasks = (home) => `Directory,Executable,Filename,Epochs,Priority\n${home.folder},sh,a.sh,3,1\n${home.folder},sh,b.sh,4,-2\n`;

webTest("a CSV file is chosen, and its tasks run", {}, async ({ home, page }) => {
  for (const name of ["a", "b"]) {
    fs.writeFileSync(`${home.folder}/${name}.sh`, `echo "$@" > ${home.folder}/${name}.out\n`);
  }
  fs.writeFileSync(`${home.folder}/tasks.csv`, tasks(home));
  await open(page, "CSV");
  await page.getByLabel("Choose a file").setInputFiles(`${home.folder}/tasks.csv`);
  await page.getByText("tasks.csv", { exact: true }).waitFor();
  await button(page, "Queue 2 jobs").click();
  const first = await queued(page);
  for (const [id, name, epochs, priority] of [[first, "a", 3, 1], [first + 1, "b", 4, -2]]) {
    const job = await home.until(id, (one) => one.ended !== null);
    assert.equal(job.state, "succeeded");
    assert.equal(job.priority, priority);
    assert.match(fs.readFileSync(`${home.folder}/${name}.out`, "utf8"), new RegExp(`--epochs=${epochs}\\b`));
  }
});

webTest("a CSV file is dropped or pasted, and wrong rows are told", {}, async ({ home, page }) => {
  for (const name of ["a", "b"]) {
    fs.writeFileSync(`${home.folder}/${name}.sh`, "");
  }
  await open(page, "CSV");
  const area = field(page, "CSV");
  const data = await page.evaluateHandle((text) => {
    const transfer = new DataTransfer();
    transfer.items.add(new File([text], "dropped.csv", { type: "text/csv" }));
    return transfer;
  }, tasks(home).replace(",3,1", ",three,1"));
  await area.dispatchEvent("drop", { dataTransfer: data });
  await page.getByText("dropped.csv").waitFor();
  assert.match((await problems(page))[0], /^Line 2\b/);
  await button(page, "Clear").click();
  assert.equal(await area.inputValue(), "");
  await page.evaluate((text) => navigator.clipboard.writeText(text), tasks(home));
  await area.focus();
  await page.keyboard.press("Control+v");
  await button(page, "Queue 2 jobs").waitFor();
  assert.equal((await allJobs(home)).length, 0);
});
