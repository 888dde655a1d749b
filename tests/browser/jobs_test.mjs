// The table of all jobs: narrowing, choosing and steering them.
import assert from "node:assert/strict";
import os from "node:os";
import { eventually, webTest } from "./case.mjs";

const grid = (page) => page.getByRole("grid", { name: "Jobs" });
const rows = (page) => grid(page).locator("[data-id]");
const row = (page, id) => grid(page).locator(`[data-id="${id}"]`);
const tick = (page, id, options) => page.getByRole("checkbox", { name: `Job ${id}`, exact: true }).click(options);
const toolbar = (page) => page.getByRole("toolbar", { name: "Chosen jobs" });
const chosen = (page, words) => toolbar(page).getByText(`${words} chosen`, { exact: true }).waitFor();

async function openJobs(page, origin, query = "") {
  await page.goto(`${origin}/#/jobs${query}`);
  await page.getByRole("heading", { level: 1, name: "Jobs" }).waitFor();
}

/// The numbers in the order of the table, which fits the window in these tests.
async function listed(page, ids) {
  const seen = () =>
    rows(page).evaluateAll((all) =>
      all.sort((a, b) => a.ariaRowIndex - b.ariaRowIndex).map((one) => Number(one.dataset.id)),
    );
  await eventually(async () => {
    const now = await seen();
    return now.length === ids.length && now.every((id, i) => id === ids[i]);
  }, `not listed: ${ids}`).catch(async (error) => {
    assert.deepEqual(await seen(), ids, error.message);
  });
}

async function act(page, verb, told) {
  await toolbar(page).getByRole("button", { name: verb }).click();
  if (told) {
    await page.getByText(told).waitFor();
  }
}

/// 1 succeeded, 2 failed, 3 runs, 4 queued, 5–7 a held sweep. No command has a random path: commands are searched.
async function several({ home }) {
  const gate = home.makeGate("gate");
  await home.submit("--name", "alpha", "--project", "vision", "--label", "kind=test", "--", "true");
  await home.submit("--name", "beta", "--project", "audio", "--", "sh -c 'exit 3'");
  await home.berth("wait", "1-2").catch(() => undefined);
  await home.submit("--name", "gamma", "--project", "vision", "--gpus", "4", "--", "read x < gate");
  await home.submit("--name", "delta", "--label", "kind=train", "-p", "5", "--", "true");
  await home.berth("sweep", "echo {lr}", "-p", "lr", "1", "2", "3", "--submit", "--name", "rates", "--hold");
  await home.until(3, (job) => job.state === "running");
  return gate;
}

webTest("filters by state, project, user, label and sweep, and a search", {}, async ({ home, page, origin }) => {
  await several({ home });
  await openJobs(page, origin);
  await listed(page, [7, 6, 5, 4, 3, 2, 1]);
  const state = (name) => page.getByRole("group", { name: "States" }).getByRole("button", { name });
  await state("held 3").click();
  await listed(page, [7, 6, 5]);
  await state("failed 1").click();
  await listed(page, [7, 6, 5, 2]);
  await page.getByText("4 jobs of 7").waitFor();
  await state("all").click();
  await listed(page, [7, 6, 5, 4, 3, 2, 1]);
  const choose = (name, option) => page.getByRole("combobox", { name }).selectOption(option);
  await choose("Project", { label: "vision (2)" });
  await listed(page, [3, 1]);
  await choose("Label", { label: "kind=test (1)" });
  await listed(page, [1]);
  await choose("Project", "");
  await choose("Label", { label: "kind=train (1)" });
  await listed(page, [4]);
  await choose("Label", "");
  await choose("Sweep", { label: "rates (3)" });
  await listed(page, [7, 6, 5]);
  await choose("Sweep", "");
  await choose("User", { label: `${os.userInfo().username} (7)` });
  await listed(page, [7, 6, 5, 4, 3, 2, 1]);
  await choose("User", "");
  const search = page.getByRole("searchbox", { name: "Search jobs" });
  for (const [text, found] of [["ALPHA", [1]], ["audio", [2]], ["exit 3", [2]], ["rates", [7, 6, 5]], ["4", [4]]]) {
    await search.fill(text);
    await listed(page, found);
  }
  await search.fill("no such thing");
  await page.getByRole("button", { name: "Show all" }).click();
  await listed(page, [7, 6, 5, 4, 3, 2, 1]);
  assert.equal(await search.inputValue(), "");
  // What is listed follows what happens.
  await state("held 3").click();
  await listed(page, [7, 6, 5]);
  await home.berth("kill", "6");
  await listed(page, [7, 5]);
  await home.submit("--hold", "--", "true");
  await listed(page, [8, 7, 5]);
});

webTest("chips count what the other filters leave", {}, async ({ home, page, origin }) => {
  const gate = await several({ home });
  const states = page.getByRole("group", { name: "States" });
  const counts = async (...words) => {
    await eventually(async () => {
      const told = await states.getByRole("button").allInnerTexts();
      return told.slice(1).map((text) => text.replace(/\s+/g, " ")).join() === words.join();
    }, `the chips do not say ${words}`);
  };
  await openJobs(page, origin);
  await counts("held 3", "queued 1", "running 1", "succeeded 1", "failed 1");
  await page.getByRole("combobox", { name: "Project" }).selectOption("vision");
  await counts("running 1", "succeeded 1");
  // A chosen state does not change what the others would add.
  await states.getByRole("button", { name: "succeeded" }).click();
  await listed(page, [1]);
  await counts("running 1", "succeeded 1");
  await gate.open(); // and they follow what happens
  await counts("succeeded 2");
  await page.goto(`${origin}/#/jobs?search=rates`);
  await counts("held 3");
  await page.goto(`${origin}/#/jobs?sweep=rates`);
  await home.berth("kill", "5");
  await counts("held 2", "cancelled 1");
});

webTest("jobs of a sweep are told apart by their parameters, and can be grouped", {}, async ({ home, page, origin }) => {
  await home.berth("sweep", "true {lr} {bs}", "-p", "lr", "0.1", "0.01", "-p", "bs", "16", "32", "--submit", "--name", "search", "--hold");
  const alone = await home.submit("--name", "alone", "--hold", "--", "true");
  await openJobs(page, origin);
  await row(page, 1).getByText("bs=16 lr=0.1").waitFor();
  await row(page, 4).getByText("bs=32 lr=0.01").waitFor();
  await page.getByRole("button", { name: "Group by sweep" }).click();
  await listed(page, [alone]);
  const group = page.getByRole("list", { name: "Sweeps" }).getByRole("listitem");
  await group.getByText("4 jobs").waitFor();
  await group.getByRole("img", { name: "4 held" }).waitFor();
  assert.match(page.url(), /group=sweep/);
  await group.getByRole("link", { name: "search" }).click();
  await page.getByRole("heading", { level: 1, name: "search" }).waitFor();
  await page.goto(`${origin}/#/jobs/4`);
  await page.locator(".job-heading").getByText("bs=32 lr=0.01").waitFor();
  // Also where only the timeline is known.
  await home.berth("release", "sweep=search");
  await home.berth("wait", "1-4");
  await page.goto(`${origin}/#/timeline?table=1`);
  await page.reload();
  await page.getByRole("row", { name: /bs=32 lr=0.01 succeeded/ }).waitFor();
  await page.goto(`${origin}/#/`);
  await page.getByRole("region", { name: "Ended lately" }).getByText("bs=32 lr=0.01").waitFor();
});

webTest("old jobs are forgotten after it was said how many", {}, async ({ home, page, origin }) => {
  await several({ home });
  await openJobs(page, origin);
  await listed(page, [7, 6, 5, 4, 3, 2, 1]);
  await page.getByRole("button", { name: "Tidy up" }).click();
  const dialog = page.getByRole("dialog", { name: "Forget old jobs" });
  await dialog.getByText("There is no such job.").waitFor(); // none is 30 days old
  assert.ok(await dialog.getByRole("button", { name: "Forget", exact: true }).isDisabled());
  await dialog.getByLabel("That ended").selectOption("at any time");
  await dialog.getByText("2 jobs will be forgotten.").waitFor();
  await dialog.getByLabel("Which jobs").selectOption("failed");
  await dialog.getByText("1 job will be forgotten.").waitFor();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await listed(page, [7, 6, 5, 4, 3, 2, 1]);
  await page.getByRole("button", { name: "Tidy up" }).click();
  await dialog.getByLabel("That ended").selectOption("at any time");
  await dialog.getByRole("button", { name: "Forget 2" }).click();
  await page.getByText("Forgot 2 jobs.").waitFor();
  await listed(page, [7, 6, 5, 4, 3]);
  assert.equal(await dialog.count(), 0);
});

webTest("the address keeps the view, the browser the columns", {}, async ({ home, page, context, origin }) => {
  await several({ home });
  await openJobs(page, origin);
  const head = (on, name) => grid(on).getByRole("columnheader", { name });
  const sort = (name) => head(page, name).getByRole("button").click();
  await sort("Name");
  await listed(page, [1, 2, 4, 3, 5, 6, 7]); // those of the sweep have its name
  assert.equal(await head(page, "Name").getAttribute("aria-sort"), "ascending");
  await sort("Name");
  await listed(page, [7, 6, 5, 3, 4, 2, 1]);
  assert.equal(await head(page, "Name").getAttribute("aria-sort"), "descending");
  await page.getByRole("group", { name: "States" }).getByRole("button", { name: "held" }).click();
  await page.getByRole("searchbox", { name: "Search jobs" }).fill("echo");
  await listed(page, [7, 6, 5]);
  await eventually(() => /search=echo/.test(page.url()), "the address does not have the search");

  const columns = page.getByText("Columns", { exact: true }).first();
  await columns.click();
  await page.getByRole("checkbox", { name: "Command" }).check();
  await page.getByRole("checkbox", { name: "Peak" }).uncheck();
  await page.keyboard.press("Escape");
  await row(page, 5).getByText("echo 1").waitFor();

  const second = await context.newPage();
  await second.goto(page.url());
  await page.reload();
  for (const tab of [page, second]) {
    await listed(tab, [7, 6, 5]);
    assert.equal(await head(tab, "Name").getAttribute("aria-sort"), "descending");
    assert.equal(await tab.getByRole("searchbox", { name: "Search jobs" }).inputValue(), "echo");
    await head(tab, "Command").waitFor();
    assert.equal(await head(tab, "Peak").count(), 0);
    await row(tab, 5).getByText("echo 1").waitFor();
  }
  // Back from a job, the view is as it was.
  await row(page, 6).getByRole("link").click();
  await page.getByRole("heading", { level: 1, name: "rates/6" }).waitFor();
  await page.goBack();
  await listed(page, [7, 6, 5]);
});

webTest("jobs are chosen by mouse and keys", {}, async ({ home, page, origin }) => {
  await home.berth("submit", "--hold", "--array", "30", "--", "true");
  await openJobs(page, origin);
  await tick(page, 28);
  await chosen(page, "1");
  await tick(page, 24, { modifiers: ["Shift"] });
  await chosen(page, "5");
  await tick(page, 26);
  await chosen(page, "4");
  await toolbar(page).getByRole("button", { name: "Clear" }).click();
  await toolbar(page).waitFor({ state: "detached" });

  const table = grid(page);
  await page.keyboard.press("/");
  await page.keyboard.type("true");
  await page.keyboard.press("Enter"); // from the search to the table
  assert.match(page.url(), /search=true/); // and what is chosen from now on stays chosen
  await page.keyboard.press("Home");
  assert.equal(await table.getAttribute("aria-activedescendant"), "job-30");
  await page.keyboard.press(" ");
  await page.keyboard.press("Shift+ArrowDown");
  await page.keyboard.press("Shift+ArrowDown");
  await chosen(page, "3");
  await page.keyboard.press("j");
  await page.keyboard.press("ArrowUp");
  assert.equal(await table.getAttribute("aria-activedescendant"), "job-28");
  await page.keyboard.press("End");
  assert.equal(await table.getAttribute("aria-activedescendant"), "job-1");
  await row(page, 1).waitFor();
  await page.keyboard.press("Escape");
  await toolbar(page).waitFor({ state: "detached" });
  await page.keyboard.press("Control+a");
  await chosen(page, "30");
  await tick(page, 1); // all but this one
  await chosen(page, "29");
  await act(page, "Release", "Released 29 jobs");
  assert.equal((await home.job(1)).state, "held");
  await home.berth("wait", "2-30");
  await page.keyboard.press("Escape");
  await grid(page).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "true/1" }).waitFor();
});

webTest("all that can be done with chosen jobs", {}, async ({ home, page, origin }) => {
  const gate = await several({ home });
  await openJobs(page, origin);
  const state = async (id) => (await home.job(id)).state;
  const only = async (...ids) => {
    await grid(page).focus();
    await page.keyboard.press("Escape");
    for (const id of ids) {
      await tick(page, id);
    }
  };
  const disabled = (verb) => toolbar(page).getByRole("button", { name: verb }).isDisabled();

  await only(4);
  assert.deepEqual(await Promise.all(["Release", "Rerun", "Pause", "Resume"].map(disabled)), [true, true, true, true]);
  await act(page, "Hold", "Held 1 job");
  assert.equal(await state(4), "held");
  await row(page, 4).getByText("held").waitFor();

  await act(page, "Priority");
  const dialog = page.getByRole("dialog", { name: "Priority" });
  await dialog.getByRole("spinbutton").fill("-7");
  await dialog.getByRole("button", { name: "Set" }).click();
  await page.getByText("Changed 1 job").waitFor();
  assert.equal((await home.job(4)).priority, -7);

  await act(page, "Release", "Released 1 job");
  await row(page, 4).getByText("queued").waitFor();
  assert.equal(await state(4), "queued");

  await only(3);
  await act(page, "Pause", "Paused 1 job");
  await home.until(3, (job) => job.paused);
  await row(page, 3).getByText("paused").waitFor();
  await act(page, "Resume", "Resumed 1 job");
  await home.until(3, (job) => !job.paused);
  await row(page, 3).getByText("running").waitFor();

  await only(1, 2);
  await act(page, "Rerun", "Queued again: 2 jobs");
  await home.until(1, (job) => job.attempt === 1 && job.state === "queued");
  await row(page, 1).getByText("queued").waitFor();

  await only(5, 6);
  await act(page, "Kill");
  await page.getByRole("dialog").getByRole("button", { name: "No" }).click();
  assert.equal(await state(5), "held");
  await act(page, "Kill");
  await page.getByRole("dialog").getByRole("button", { name: "Kill 2" }).click();
  await page.getByText("Killed 2 jobs").waitFor();
  assert.deepEqual([await state(5), await state(6), await state(7)], ["cancelled", "cancelled", "held"]);
  await row(page, 6).getByText("cancelled").waitFor();

  // What does not fit one of them is told.
  await only(6, 7);
  await act(page, "Release", /^Released 1 job; refused for 1 job: /);
  await gate.open();
  await home.until(7, (job) => job.state === "succeeded");
  await row(page, 7).getByText("succeeded").waitFor();
});

webTest("an answer that was on its way does not undo what an event told", {}, async ({ home, page, context, origin }) => {
  const gate = home.makeGate("gate");
  await home.submit("--name", "alpha", "--", "read x < gate");
  await home.until(1, (job) => job.state === "running");
  // The overview asks which jobs run; the answer stays away until the job has ended and the page knows.
  const isRunning = (url) => url.pathname === "/v1/jobs" && url.searchParams.getAll("select").includes("state=running");
  let hold;
  const held = new Promise((resolve) => (hold = resolve));
  let letGo;
  const released = new Promise((resolve) => (letGo = resolve));
  const tab = await context.newPage();
  await tab.route(isRunning, async (route) => {
    const answer = await route.fetch();
    hold((await answer.json()).jobs.map((job) => job.id));
    await released;
    await route.fulfill({ response: answer });
  });
  await page.close(); // the new tab reads the events itself
  await tab.goto(`${origin}/#/`);
  assert.deepEqual(await held, [1]);
  await gate.open();
  await tab.getByRole("region", { name: "Ended lately" }).getByText("alpha").waitFor();
  const late = tab.waitForResponse((response) => isRunning(new URL(response.url())));
  letGo();
  await (await late).finished();
  await tab.getByRole("link", { name: "Jobs", exact: false }).first().click();
  await row(tab, 1).getByText("succeeded").waitFor();
  await tick(tab, 1);
  await act(tab, "Rerun", "Queued again: 1 job");
  await gate.open();
});

webTest("100,000 jobs", {}, async ({ home, page, origin }) => {
  const kJobs = 100_000;
  await home.berth("daemon", "pause");
  await home.submitLines(Array.from({ length: kJobs }, (_, i) => `echo number ${i + 1}`));
  const requests = [];
  page.on("request", (request) => requests.push(request.url()));
  await openJobs(page, origin);
  await page.getByText("100,000 jobs", { exact: true }).waitFor();
  assert.equal(await grid(page).getAttribute("aria-rowcount"), String(kJobs + 1));
  const content = (id) => row(page, id).getByText(`echo number ${id}`, { exact: true }).waitFor();
  await content(kJobs);
  for (const part of [0.5, 0.25, 1]) {
    const top = await grid(page).evaluate((element, where) => {
      element.scrollTop = where * (element.scrollHeight - element.clientHeight);
      return element.scrollTop;
    }, part);
    const first = kJobs - Math.ceil(top / 36); // the newest are on top, rows have 36 pixels
    await content(first);
    const box = await row(page, first).boundingBox();
    const table = await grid(page).boundingBox();
    assert.ok(box.y >= table.y && box.y < table.y + 120, `job ${first} is at ${box.y}`);
    assert.ok((await rows(page).count()) < 100, "only what is near the view is in the document");
  }
  await content(1);
  await grid(page).focus();
  await page.keyboard.press("Home");
  await content(kJobs);

  const search = page.getByRole("searchbox", { name: "Search jobs" });
  await search.fill("number 7777");
  await page.getByText("11 jobs of 100,000").waitFor();
  await listed(page, [77779, 77778, 77777, 77776, 77775, 77774, 77773, 77772, 77771, 77770, 7777]);
  await search.fill("");
  await page.getByText("100,000 jobs", { exact: true }).waitFor();

  // A new one finds its place without all numbers being read again.
  await grid(page).evaluate((element) => (element.scrollTop = 0));
  await content(kJobs);
  requests.length = 0;
  const added = await home.submit("--", "echo one more");
  await row(page, added).getByText("echo one more").waitFor();
  assert.deepEqual(requests.filter((url) => url.includes("/v1/jobs/ids")), []);
  await home.berth("kill", String(added));
  await home.berth("forget", "--older", "0s");
  await page.getByText("100,000 jobs", { exact: true }).waitFor();

  requests.length = 0;
  await page.getByRole("checkbox", { name: "All jobs that match" }).check();
  await chosen(page, "100,000");
  await act(page, "Hold", "Held 100,000 jobs");
  assert.equal((await home.job(50_000)).state, "held");
  await act(page, "Release", "Released 100,000 jobs");
  assert.equal((await home.job(50_000)).state, "queued");
  await tick(page, kJobs); // not this one
  await chosen(page, "99,999");
  await act(page, "Kill");
  await page.getByRole("dialog").getByRole("button", { name: "Kill 99,999" }).click();
  await page.getByText("Killed 99,999 jobs").waitFor();
  assert.equal((await home.job(1)).state, "cancelled");
  assert.equal((await home.job(kJobs)).state, "queued");
  await row(page, kJobs - 1).getByText("cancelled").waitFor();
  const deeds = requests.filter((url) => /jobs\/(hold|release|kill)/.test(url));
  assert.equal(deeds.length, 3, "one request each");
  assert.ok(deeds.every((url) => url.length < 200), "by words, not by numbers");
});

webTest("names are shown as they are", {}, async ({ home, page, origin }) => {
  const names = [
    `<img src=x onerror="document.title='broken'">`,
    "</script><script>document.title='broken'</script>",
    "🚢 berth 👩‍🚀",
    "first line\nsecond line",
    "עברית שם",
    "\u202ereversed",
    "a&amp;b",
  ];
  for (const name of names) {
    await home.submit("--hold", "--project", name.replace("\n", " "), "--name", name, "--label", `note=${name}`, "--", `echo '${name.replaceAll("'", "")}'`);
  }
  await openJobs(page, origin);
  for (const [i, name] of names.entries()) {
    assert.equal(await row(page, i + 1).locator("a bdi").last().textContent(), name);
  }
  await page.getByRole("combobox", { name: "Project" }).selectOption(names[0]);
  await listed(page, [1]);
  await page.getByRole("combobox", { name: "Label" }).selectOption(`note=${names[0]}`);
  await listed(page, [1]);
  await page.reload();
  await listed(page, [1]);
  await page.getByRole("searchbox", { name: "Search jobs" }).fill("onerror");
  await listed(page, [1]);
  for (const [i, name] of names.entries()) {
    await page.goto(`${origin}/#/jobs/${i + 1}`);
    await page.getByRole("heading", { level: 1 }).filter({ hasText: `/${i + 1}` }).waitFor();
    assert.equal(await page.getByRole("heading", { level: 1 }).locator("bdi").last().textContent(), name);
    assert.equal(await page.locator("pre[aria-label=Command]").textContent(), `echo '${name.replaceAll("'", "")}'`);
  }
  assert.doesNotMatch(await page.title(), /broken/);
  assert.equal(await page.locator("main img").count(), 0);
});
