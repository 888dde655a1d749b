// A cluster on the page: jobs are sent there by every form, told where they run, and moved; its devices
// are shown. Slurm is the stand-in of tests/fake_slurm.
import assert from "node:assert/strict";
import fs from "node:fs";
import { fileURLToPath } from "node:url";
import { axePath, eventually, webTest } from "./case.mjs";

const axe = fs.readFileSync(axePath, "utf8");
const fake = fs.realpathSync(fileURLToPath(new URL("../fake_slurm", import.meta.url)));

function prepare(home) {
  fs.mkdirSync(`${home.folder}/fake`);
  Object.assign(home.env, { PATH: `${fake}:${home.env.PATH}`, FAKE_SLURM: `${home.folder}/fake` });
  delete home.env.SLURM_CONF;
}

async function open(page, way) {
  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Add jobs" }).click();
  await page.getByRole("navigation", { name: "Ways to add jobs" }).getByRole("link", { name: way, exact: true }).click();
}

const field = (page, name) => page.getByRole("textbox", { name, exact: true });
const button = (page, name) => page.getByRole("main").getByRole("button", { name, exact: true });
const where = (page) => page.getByRole("combobox", { name: "Where it runs" });

async function allJobs(home) {
  return JSON.parse(await home.berth("queue", "--all", "--json")).jobs;
}

async function checkAccess(page) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(
    () => window.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"] }),
  );
  const bad = violations.filter(({ impact }) => ["serious", "critical"].includes(impact));
  assert.deepEqual(bad.map(({ id, nodes }) => `${id}: ${nodes[0].html}`), []);
}

/// Nothing sticks out to the right.
async function checkWidth(page) {
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
}

webTest("every form sends jobs to the cluster", { prepare }, async ({ home, page }) => {
  await open(page, "One job");
  await field(page, "Command").fill("true");
  assert.deepEqual(await where(page).locator("option").allTextContents(), ["here", "auto: here if it starts soon", "cluster slurm"]);
  await where(page).selectOption("slurm");
  await field(page, "Options for Slurm").fill("--partition=gpu\n--mem=4G");
  await button(page, "Queue the job").click();
  await page.getByText(/^Job 1 is queued\./).first().waitFor();
  const job = await home.until(1, (one) => one.state === "succeeded");
  assert.equal(job.on, "slurm");
  assert.deepEqual(job.cluster_options, ["--partition=gpu", "--mem=4G"]);

  await open(page, "Text");
  await field(page, "Jobs").fill("echo 2\necho 3\n");
  await where(page).selectOption("slurm");
  await button(page, "Queue 2 jobs").click();
  await page.getByText(/^Jobs 2 to 3 are queued\./).first().waitFor();
  await page.getByText("NAME;;OUTFILE;;COMMAND;;;").first().click();
  await field(page, "Jobs").fill("four;;four.txt;;echo 4;;;");
  await field(page, "Directory").fill(home.folder);
  await button(page, "Queue 1 job").click();
  await page.getByText(/^Job 4 is queued\./).first().waitFor();

  await open(page, "Sweep");
  await field(page, "Command").fill("echo {lr}");
  await button(page, "Values for {lr}").click();
  await field(page, "Values 1").fill("0.1 0.2");
  await field(page, "Name").fill("lr");
  await where(page).selectOption("auto");
  await button(page, "Queue 2 jobs").click();
  await page.getByRole("heading", { level: 1, name: "lr" }).waitFor();

  fs.writeFileSync(`${home.folder}/a.sh`, "true\n");
  await open(page, "CSV");
  await field(page, "CSV").fill(`Directory,Executable,Filename,Epochs,Priority\n${home.folder},sh,a.sh,3,1\n`);
  await where(page).selectOption("slurm");
  await button(page, "Queue 1 job").click();
  await page.getByText(/^Job 7 is queued\./).first().waitFor();
  await home.berth("wait");
  const jobs = await allJobs(home);
  assert.deepEqual(jobs.sort((a, b) => a.id - b.id).map((one) => one.on), ["slurm", "slurm", "slurm", "slurm", "auto", "auto", "slurm"]);
  assert.deepEqual([...new Set(jobs.map((one) => one.state))], ["succeeded"]);

  // A clone goes to the same place.
  await page.goto(`${new URL(page.url()).origin}/#/add/form?clone=1`);
  await eventually(async () => (await where(page).inputValue()) === "slurm", "the clone is for here");
  assert.equal(await field(page, "Options for Slurm").inputValue(), "--partition=gpu\n--mem=4G");
});

webTest("without a cluster there is nothing to choose", {}, async ({ page }) => {
  await open(page, "One job");
  await field(page, "Command").waitFor();
  assert.equal(await where(page).count(), 0);
});

for (const [width, height, dark] of [[1440, 900, false], [390, 844, true]]) {
  webTest(`where a job runs is shown, at ${width} px`, { prepare, width, height, dark }, async ({ home, page, origin }) => {
    const gate = home.makeGate("gate");
    const id = await home.submit("--on", "slurm", "--name", "train", "--", `read x < ${gate.path}`);
    try {
      await home.until(id, (job) => job.state === "running" && job.node === "n1");
      await page.goto(`${origin}/#/jobs`);
      await page.getByText("slurm n1: 0").waitFor();
      await checkWidth(page);
      await page.goto(`${origin}/#/jobs/${id}`);
      await page.getByText("cluster slurm, node n1, GPU 0, Slurm’s job 1", { exact: true }).waitFor();
      await page.getByText("Started on slurm, node n1, GPU 0").waitFor();
      await checkAccess(page);
      await checkWidth(page);

      await page.goto(`${origin}/#/devices`);
      const cluster = page.getByRole("region", { name: "Cluster slurm" });
      await cluster.getByText("1 of 12 GPUs on 3 nodes held").waitFor();
      await cluster.getByRole("link", { name: `job ${id}` }).waitFor();
      await checkAccess(page);
      await checkWidth(page);
      await page.goto(`${origin}/#/add/form`);
      await where(page).selectOption("slurm");
      await checkAccess(page);
      await checkWidth(page);
    } finally {
      await gate.open(); // the job carries no mark by which it would be ended
    }
    await home.until(id, (job) => job.state === "succeeded");
  });
}

webTest("a job that waits is moved", { prepare }, async ({ home, page, origin }) => {
  const id = await home.submit("--hold", "--", "echo $BERTH_TARGET");
  await page.goto(`${origin}/#/jobs/${id}`);
  await button(page, "Edit").click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("combobox", { name: "Where it runs" }).selectOption("slurm");
  await dialog.getByRole("button", { name: "Save" }).click();
  await page.getByRole("region", { name: "Details" }).getByText("cluster slurm", { exact: true }).waitFor();
  assert.equal((await home.job(id)).on, "slurm");
  await button(page, "Edit").click();
  await dialog.getByRole("combobox", { name: "Where it runs" }).selectOption("local");
  await dialog.getByRole("button", { name: "Save" }).click();
  await page.getByRole("region", { name: "Details" }).getByText("cluster slurm", { exact: true }).waitFor({ state: "detached" });
  assert.equal((await home.job(id)).on, undefined);
});

webTest("a cluster that does not answer says so", { prepare, mayFail: /503|devices\/cluster/ }, async ({ home, page, origin }) => {
  fs.writeFileSync(`${home.folder}/fake/down`, "");
  await page.goto(`${origin}/#/devices`);
  await page.getByText(/^slurm does not answer: /).waitFor();
});
