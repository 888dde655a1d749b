// Sweeps: the list, and one of them with its parameters as columns.
import assert from "node:assert/strict";
import fs from "node:fs";
import { eventually, webTest } from "./case.mjs";

/// Fails where lr is 0.001, until the file `mended` is there.
async function makeSweep(home) {
  const script = `${home.folder}/train.sh`;
  fs.writeFileSync(script, `[ "$1" != 0.001 ] || [ -e ${home.folder}/mended ] || exit 3\n`);
  const values = ["-p", "lr", "0.1", "0.001", "1e-2", "-p", "bs", "9", "100", "20"];
  await home.berth("sweep", `sh ${script} {lr} {bs}`, ...values, "--submit", "--name", "lr <b>", "--project", "vision");
  await home.berth("wait", "sweep=lr <b>").catch(() => "some fail");
}

async function open(page, name) {
  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Sweeps" }).click();
  await page.getByRole("link", { name, exact: true }).click();
  await page.getByRole("heading", { level: 1, name, exact: true }).waitFor();
}

async function column(page, index) {
  const rows = page.getByRole("table", { name: /^Jobs of/ }).getByRole("row");
  const cells = await rows.evaluateAll((all, at) => all.slice(1).map((row) => row.children[at].textContent), index);
  return cells;
}

function states(home, name) {
  return home
    .berth("queue", "--all", "--json", `sweep=${name}`)
    .then((text) => JSON.parse(text).jobs.map((job) => job.state));
}

webTest("parameters are columns, and numbers are sorted as numbers", { prepare: makeSweep }, async ({ page }) => {
  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Sweeps" }).click();
  await page.getByRole("row", { name: /lr <b> vision 9 .*100 % 3/ }).waitFor();
  await open(page, "lr <b>");
  await page.getByText("9 of 9 ended").waitFor();
  const heads = await page.getByRole("columnheader").allTextContents();
  assert.deepEqual(heads.slice(0, 4).map((text) => text.replace(/[▾▴]/, "")), ["ID", "bs", "lr", "State"]);
  await page.getByRole("button", { name: "bs", exact: true }).click();
  assert.deepEqual(await column(page, 1), ["9", "9", "9", "20", "20", "20", "100", "100", "100"]);
  assert.equal(await page.getByRole("columnheader", { name: "bs" }).getAttribute("aria-sort"), "ascending");
  await page.getByRole("button", { name: "bs", exact: true }).click();
  assert.equal((await column(page, 1))[0], "100");
  await page.getByRole("button", { name: "lr", exact: true }).click();
  assert.deepEqual([...new Set(await column(page, 2))], ["0.001", "1e-2", "0.1"]);
  // The address keeps it.
  await page.reload();
  await page.getByText("9 of 9 ended").waitFor();
  assert.deepEqual([...new Set(await column(page, 2))], ["0.001", "1e-2", "0.1"]);
  await page.getByRole("button", { name: "failed 3" }).click();
  assert.deepEqual(await column(page, 2), ["0.001", "0.001", "0.001"]);
  assert.ok((await column(page, 3)).every((text) => text === "failed"));
  await page.getByRole("button", { name: "All 9" }).click();
  // What each value made of them.
  await page.getByText("By value").click();
  await page.getByRole("row", { name: /^0.001 3 0 3/ }).waitFor();
  await page.getByRole("row", { name: /^20 3 2 1/ }).waitFor();
});

webTest("those that failed run again", { prepare: makeSweep }, async ({ home, page }) => {
  await open(page, "lr <b>");
  fs.writeFileSync(`${home.folder}/mended`, "");
  await page.getByRole("button", { name: "Rerun 3 failed" }).click();
  await page.getByRole("button", { name: "succeeded 9" }).waitFor(); // live
  assert.ok(await page.getByRole("button", { name: "Rerun the failed" }).isDisabled());
  const { jobs } = JSON.parse(await home.berth("queue", "--all", "--json"));
  assert.deepEqual(jobs.map((job) => job.attempt), [1, 1, 1, 2, 2, 2, 1, 1, 1]);
});

webTest("those that ran out of memory run again with those that failed", { devices: "sim:1x8GiB" }, async ({ home, page }) => {
  const command = `case {n} in 1) true;; 2) exit 5;; 3) ${process.env.BERTH} simjob --mem 20GiB;; esac`;
  await home.berth("sweep", command, "-p", "n", "1", "2", "3", "--submit", "--name", "mixed", "--mem", "1GiB");
  await home.berth("wait", "sweep=mixed").catch(() => "some fail");
  assert.deepEqual(await states(home, "mixed"), ["succeeded", "failed", "oom"]);
  const attempts = async () => JSON.parse(await home.berth("queue", "--all", "--json")).jobs.map((job) => job.attempt);
  const before = await attempts();
  await open(page, "mixed");
  await page.getByRole("button", { name: "Rerun 2 failed" }).click();
  const again = await eventually(async () => {
    const now = await attempts();
    return now[1] > before[1] && now[2] > before[2] && now;
  }, "not all ran again");
  assert.equal(again[0], 1);
});

webTest("a sweep is held, released and killed", { devices: "sim:1x24GiB" }, async ({ home, page }) => {
  await home.berth("sweep", "sleep 60{n}", "-p", "n", "1", "2", "3", "--submit", "--name", "long");
  const other = await home.submit("--hold", "--", "true");
  await home.until(1, (job) => job.state === "running");
  await open(page, "long");
  await page.getByRole("button", { name: "Hold", exact: true }).click();
  await page.getByRole("button", { name: "held 2" }).waitFor();
  assert.deepEqual(await states(home, "long"), ["running", "held", "held"]);
  await page.getByRole("button", { name: "Release", exact: true }).click();
  await page.getByRole("button", { name: "queued 2" }).waitFor();
  assert.deepEqual(await states(home, "long"), ["running", "queued", "queued"]);
  await page.getByRole("button", { name: "Kill", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Kill this sweep?" });
  await dialog.getByRole("button", { name: "No" }).click();
  assert.deepEqual(await states(home, "long"), ["running", "queued", "queued"]);
  await page.getByRole("button", { name: "Kill", exact: true }).click();
  await dialog.getByRole("button", { name: "Kill 3" }).click();
  await page.getByRole("button", { name: "cancelled 3" }).waitFor();
  assert.deepEqual(await states(home, "long"), ["cancelled", "cancelled", "cancelled"]);
  assert.equal((await home.job(other)).state, "held");
});

webTest("an empty list says what to do, and a new sweep appears", {}, async ({ home, page }) => {
  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Sweeps" }).click();
  await page.getByText("There is no sweep yet.").waitFor();
  await home.berth("sweep", "true {n}", "-p", "n", "1", "2", "--submit", "--name", "new one");
  await page.getByRole("row", { name: /new one .*100 %/ }).waitFor();
});
