// What happens is on the screen without a reload, also after the daemon was gone, and in many tabs.
import assert from "node:assert/strict";
import http from "node:http";
import { eventually, webTest } from "./case.mjs";

const connection = (page, words) => page.locator("header").getByRole("status").getByText(words, { exact: true }).waitFor();
const row = (page, id) => page.getByRole("grid", { name: "Jobs" }).locator(`[data-id="${id}"]`);
const chip = (page, words) => page.getByRole("group", { name: "States" }).getByRole("button", { name: words, exact: true }).waitFor();

async function tab(context, address) {
  const page = await context.newPage();
  await page.goto(address);
  await connection(page, "live");
  return page;
}

function metrics(home) {
  return new Promise((resolve, reject) => {
    const request = http.get({ socketPath: `${home.folder}/home/berth.sock`, path: "/metrics" }, async (answer) => {
      resolve((await answer.toArray()).join(""));
    });
    request.on("error", reject);
  });
}

/// Waits until so many read the daemon's events.
async function listeners(home, count) {
  const told = new RegExp(`^berth_event_listeners ${count}$`, "m");
  await eventually(async () => told.test(await metrics(home)), `not ${count} listeners`);
}

/// To find out later whether the document is still the same.
const mark = (page) => page.evaluate(() => void (window.isTheSame = true));
const isMarked = (page) => page.evaluate(() => window.isTheSame === true);

webTest("new jobs, their states and the counts come by themselves", {}, async ({ home, page, context, origin }) => {
  const overview = await tab(context, `${origin}/#/`);
  await page.goto(`${origin}/#/jobs`);
  await page.getByText("There are no jobs yet.").waitFor();
  await Promise.all([page, overview].map(mark));
  const gate = home.makeGate("gate");
  const id = await home.submit("--name", "one", "--", `read x < ${gate.path}; exit 3`);
  await row(page, id).getByText("running").waitFor();
  await chip(page, "running 1");
  await page.getByText("1 job", { exact: true }).waitFor();
  await page.getByRole("link", { name: "Jobs 1 not ended" }).waitFor();
  await overview.getByRole("region", { name: "Running" }).getByRole("link", { name: "one/1" }).waitFor();
  const job = await tab(context, `${origin}/#/jobs/${id}`);
  await job.getByText("running", { exact: true }).first().waitFor();
  await mark(job);
  await gate.open();
  await row(page, id).getByText("failed").waitFor();
  await row(page, id).getByText("exit 3").waitFor();
  await chip(page, "failed 1");
  await page.getByRole("link", { name: "Jobs 0 not ended" }).waitFor();
  await overview.getByRole("region", { name: "Ended lately" }).getByRole("listitem").getByText("failed").waitFor();
  await job.getByRole("region", { name: "History" }).getByText("failed").waitFor();
  await home.berth("daemon", "pause");
  for (const each of [page, overview, job]) {
    await each.getByText("The scheduler is paused: nothing starts.").waitFor();
    assert.ok(await isMarked(each), "it was loaded anew");
  }
});

webTest("the daemon is killed and comes back", { mayFail: /ERR_CONNECTION|ERR_INCOMPLETE|ERR_EMPTY|ERR_NETWORK/ }, async ({ home, page, context, origin }) => {
  await page.goto(`${origin}/#/jobs`);
  const gate = home.makeGate("gate");
  const runs = await home.submit("--name", "runs", "--", `read x < ${gate.path}`);
  const waits = await home.submit("--name", "waits", "--hold", "--", "true");
  const job = await tab(context, `${origin}/#/jobs/${runs}`);
  await row(page, runs).getByText("running").waitFor();
  await Promise.all([page, job].map(mark));
  const token = await page.evaluate(() => localStorage.getItem("berth-token"));

  await home.killDaemon();
  await connection(page, "no connection");
  await connection(job, "no connection");
  await row(page, runs).waitFor(); // what was known stays on the screen
  await gate.open(); // it ends while nobody looks
  await home.startDaemon();
  const late = await home.submit("--name", "late", "--hold", "--", "true");
  await home.berth("kill", String(waits));
  await connection(page, "live");
  await connection(job, "live");
  await row(page, runs).getByText("succeeded").waitFor();
  await row(page, waits).getByText("cancelled").waitFor();
  await row(page, late).getByText("held").waitFor();
  await chip(page, "succeeded 1");
  await job.getByRole("region", { name: "History" }).getByText("succeeded").waitFor();
  // It is the same document and the same session, and it can still do something.
  assert.ok((await isMarked(page)) && (await isMarked(job)));
  assert.equal(await page.evaluate(() => localStorage.getItem("berth-token")), token);
  await page.getByRole("checkbox", { name: `Job ${late}` }).click();
  await page.getByRole("toolbar").getByRole("button", { name: "Release" }).click();
  await row(page, late).getByText("succeeded").waitFor();

  // Again, and what comes after that is told.
  await home.killDaemon();
  await connection(page, "no connection");
  await home.startDaemon();
  await connection(page, "live");
  const last = await home.submit("--name", "last", "--hold", "--", "true");
  await row(page, last).getByText("held").waitFor();
});

const gone = { mayFail: /ERR_CONNECTION|ERR_INCOMPLETE|ERR_EMPTY|ERR_NETWORK/ };

webTest("a banner says that the daemon is gone, since when and what to do", gone, async ({ home, page, origin }) => {
  const id = await home.submit("--name", "runs", "--", "sleep 600");
  await page.goto(`${origin}/#/jobs/${id}`);
  const kill = page.getByRole("button", { name: "Kill", exact: true });
  const runs = page.getByRole("region", { name: "History" }).getByText(/^Running for/);
  await runs.waitFor();
  await page.waitForFunction(() => /Running for [1-9]/.test(document.body.innerText));
  assert.equal(await page.getByRole("alert").count(), 0);
  await home.killDaemon();
  const banner = page.getByRole("alert");
  await banner.getByText(/^The daemon has not answered since \d\d:\d\d:\d\d/).waitFor();
  await banner.getByText("berth daemon start").waitFor();
  assert.ok(await kill.isDisabled());
  // Its clock stands still. The page tries again after 0.25, 0.5, 1 and 2 seconds.
  const before = await runs.innerText();
  for (let tries = 0; tries < 4; tries += 1) {
    await page.waitForEvent("requestfailed", (request) => request.url().endsWith("/v1/events"));
  }
  assert.equal(await runs.innerText(), before);
  await home.startDaemon();
  await banner.waitFor({ state: "detached" });
  assert.ok(await kill.isEnabled());
  await eventually(async () => (await runs.innerText()) !== before, "its clock does not go on");
});

/// Waits until the devices were told so many times, which is once a second.
const beats = (page, count) =>
  page.evaluate(
    (wanted) =>
      new Promise((resolve) => {
        let heard = 0;
        new BroadcastChannel("berth-events").onmessage = ({ data }) => {
          heard += data.event?.name === "devices" ? 1 : 0;
          if (heard === wanted) {
            resolve();
          }
        };
      }),
    count,
  );

/// What was asked, without the moment at which it was.
function asked(request) {
  const url = new URL(request.url());
  ["from", "to", "since"].forEach((name) => url.searchParams.delete(name));
  return `${request.method()} ${url.pathname}${url.search}`;
}

webTest("nothing is read twice at the start, and long answers are packed", {}, async ({ home, context, origin }) => {
  await home.berth("daemon", "pause"); // nothing happens meanwhile
  await home.berth("submit", "--array", "50", "--", "true");
  for (const place of ["", "jobs", "jobs/1", "timeline", "sweeps", "devices"]) {
    const fresh = await context.newPage();
    const requests = [];
    const packed = new Map();
    fresh.on("request", (request) => request.url().includes("/v1/") && requests.push(asked(request)));
    fresh.on("response", (response) => packed.set(asked(response.request()), response.headers()["content-encoding"]));
    await fresh.goto(`${origin}/#/${place}`);
    await connection(fresh, "live");
    await beats(fresh, 2); // a second reading would have come by then
    const twice = requests.filter((one, i) => requests.indexOf(one) !== i);
    assert.deepEqual(twice, [], `read twice at #/${place}`);
    if (place === "jobs") {
      const rows = [...packed].find(([one]) => one.startsWith("GET /v1/jobs?"));
      assert.equal(rows?.[1], "gzip", "a page of jobs");
      assert.equal([...packed].find(([one]) => one.startsWith("GET /v1/jobs/ids"))?.[1], undefined, "a short answer");
    }
    await fresh.close();
  }
});

webTest("a hidden tab lets its stream go and catches up", {}, async ({ home, page, origin }) => {
  await page.goto(`${origin}/#/jobs`);
  const id = await home.submit("--hold", "--", "true");
  await row(page, id).getByText("held").waitFor();
  await listeners(home, 1);
  const hide = (hidden) =>
    page.evaluate((value) => {
      Object.defineProperty(document, "hidden", { value, configurable: true });
      document.dispatchEvent(new Event("visibilitychange"));
    }, hidden);
  await hide(true);
  await listeners(home, 0);
  await home.berth("release", String(id));
  await home.berth("wait", String(id));
  const other = await home.submit("--hold", "--", "true");
  assert.equal(await row(page, id).getByText("held").count(), 1);
  await hide(false);
  await row(page, id).getByText("succeeded").waitFor();
  await row(page, other).getByText("held").waitFor();
  await listeners(home, 1);
});

webTest("ten tabs at once share a stream", {}, async ({ home, page, context, origin }) => {
  const gate = home.makeGate("gate");
  await home.submit("--name", "one", "--", `echo begun; read x < ${gate.path}; echo done`);
  const places = ["", "jobs", "jobs/1", "timeline", "jobs/1", "devices", "jobs/1", "jobs/1", "jobs/1", "jobs/1"];
  const tabs = [];
  for (const place of places) {
    tabs.push(await tab(context, `${origin}/#/${place}`));
  }
  const output = (each, words) => each.getByRole("log", { name: "Output" }).getByText(words).waitFor();
  const logs = tabs.filter((_, i) => places[i] === "jobs/1");
  const left = (jobs) => Promise.all(tabs.map((each) => each.getByRole("link", { name: `Jobs ${jobs} not ended` }).waitFor()));
  await left(1);
  await Promise.all(logs.map((each) => output(each, "begun")));
  await home.berth("submit", "--hold", "--array", "5", "--", "true");
  await left(6);
  await gate.open();
  await left(5);
  await Promise.all(logs.map((each) => output(each, "done")));
  await listeners(home, 1);
  // The one that reads for all may go: another takes its place.
  await page.close();
  await home.berth("kill", "2");
  await left(4);
  await tabs.shift().close();
  await home.berth("kill", "3");
  await left(3);
  await listeners(home, 1);
});
