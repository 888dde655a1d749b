#!/usr/bin/env node
// The web page in Debian's Chromium: how soon the first view is there, how much is sent for it, how
// smoothly 100,000 jobs scroll, and how soon an event is on the screen.
//
//     bench/web.mjs path/to/berth
//
// Everything runs on this machine, so whatever else runs there is measured, too.
import path from "node:path";
import { fileURLToPath } from "node:url";

process.env.BERTH = path.resolve(process.argv[2]);
process.env.BERTH_NODE_MODULES ??= fileURLToPath(new URL("../web/node_modules", import.meta.url));
const { DEADLINE, Home, launchBrowser } = await import("../tests/browser/home.mjs");

const kJobs = 100_000;
const kLoads = 9;
const kEvents = 50;

const sorted = (values) => values.slice().sort((a, b) => a - b);
const median = (values) => sorted(values)[values.length >> 1];
const most = (values) => Math.max(...values);

function report(what, value, aim) {
  console.log(`${what.padEnd(58)} ${value.padStart(22)}   ${aim}`);
}

function spread(values) {
  return `${median(values).toFixed(0)} ms, at most ${most(values).toFixed(0)}`;
}

/// A window of a signed-in browser that has nothing in its cache.
async function freshPage(browser, storageState) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, storageState });
  context.setDefaultTimeout(DEADLINE);
  return context.newPage();
}

/// Signs in; what another window needs to be signed in as well.
async function signIn(browser, home) {
  const page = await freshPage(browser);
  const link = await home.link();
  await page.goto(link);
  await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
  const state = await page.context().storageState();
  await page.context().close();
  return { state, origin: new URL(link).origin };
}

// --- the first view

/// In the page: when all of it is drawn, in milliseconds since the navigation began and since the
/// page was loaded.
function watchFirstView() {
  const full = (list) => document.querySelector(`section[aria-labelledby="${list}"] li`);
  const observer = new MutationObserver(() => {
    if (document.querySelectorAll(".device-card").length === 8 && ["running-head", "queue-head", "ended-head"].every(full)) {
      observer.disconnect();
      requestAnimationFrame(() => {
        const drawn = performance.now();
        const { loadEventEnd } = performance.getEntriesByType("navigation")[0];
        window.firstView = { drawn, afterLoad: loadEventEnd > 0 ? drawn - loadEventEnd : 0 };
      });
    }
  });
  observer.observe(document, { childList: true, subtree: true });
}

async function measureFirstView(browser) {
  const home = new Home("sim:8x24GiB");
  try {
    await home.berth("submit", "--array", "20", "--", "true");
    await home.berth("wait", "1-20");
    const train = [process.env.BERTH, "simjob", "--mem", "6GiB", "--hold", "1h"];
    await home.berth("submit", "--array", "200", "--name", "train", "--project", "vision", "--mem", "8GiB", "--expected", "1h", "--", ...train);
    const { state, origin } = await signIn(browser, home);
    const times = [];
    let sent = 0;
    for (let i = 0; i < kLoads; ++i) {
      const page = await freshPage(browser, state);
      const answers = [];
      page.on("requestfinished", (request) => answers.push(request));
      await page.addInitScript(watchFirstView);
      await page.goto(`${origin}/#/`);
      times.push(await (await page.waitForFunction(() => window.firstView)).jsonValue());
      const files = answers.filter((request) => !request.url().includes("/v1/"));
      const sizes = await Promise.all(files.map((request) => request.sizes()));
      sent = sizes.reduce((sum, size) => sum + size.responseBodySize, 0);
      await page.context().close();
    }
    report("first view drawn after the page was loaded", spread(times.map((time) => time.afterLoad)), "aim: 300 ms");
    report("the same, since the navigation in a new window began", spread(times.map((time) => time.drawn)), "");
    report("the whole page, compressed", `${(sent / 1000).toFixed(1)} kB`, "aim: 120 kB");

    const page = await freshPage(browser, state);
    await page.goto(`${origin}/#/`);
    await page.locator(".device-card").first().waitFor();
    await measureEvents(home, page, "the overview", (id) => {
      return [...document.querySelectorAll('section[aria-labelledby="ended-head"] a')].some((link) => link.hash === `#/jobs/${id}`);
    });
    await page.context().close();
  } finally {
    home.end();
  }
}

// --- events

/// Jobs are killed one by one; the clock runs from when the daemon says that it happened.
async function measureEvents(home, page, where, isShown) {
  const delays = [];
  for (let i = 0; i < kEvents; ++i) {
    const id = await home.submit("--hold", "--", "true");
    const shown = page.evaluate(
      ([job, source]) =>
        new Promise((resolve, reject) => {
          const isThere = new Function(`return ${source}`)();
          const look = () => {
            if (isThere(job)) {
              observer.disconnect();
              requestAnimationFrame(() => resolve(performance.timeOrigin + performance.now()));
            }
          };
          const observer = new MutationObserver(look);
          setTimeout(() => reject(new Error(`job ${job} is not shown`)), 10_000);
          observer.observe(document, { childList: true, subtree: true, characterData: true, attributes: true });
        }),
      [id, String(isShown)],
    );
    await home.berth("kill", String(id));
    const seen = await shown;
    delays.push(seen - (await home.job(id)).ended * 1000);
  }
  report(`an event is on ${where} after`, spread(delays), "aim: 100 ms");
}

// --- scrolling

/// In the page: notes each frame and each long task until stopped.
function watchFrames() {
  const frames = [];
  const tasks = [];
  const observer = new PerformanceObserver((list) => tasks.push(...list.getEntries().map((entry) => entry.duration)));
  observer.observe({ entryTypes: ["longtask"] });
  let last = performance.now();
  let on = true;
  const frame = (now) => {
    frames.push(now - last);
    last = now;
    if (on) {
      requestAnimationFrame(frame);
    }
  };
  requestAnimationFrame((now) => {
    last = now;
    requestAnimationFrame(frame);
  });
  window.stopWatching = () => {
    on = false;
    observer.disconnect();
    return { frames, tasks };
  };
}

async function measureScrolling(page, how, scroll) {
  await page.evaluate(watchFrames);
  await scroll();
  const { frames, tasks } = await page.evaluate(() => window.stopWatching());
  const late = frames.filter((frame) => frame > 50).length;
  const busy = tasks.length === 0 ? "no task over 50 ms" : `${tasks.length} tasks over 50 ms, the longest ${most(tasks).toFixed(0)} ms`;
  report(`scrolling by ${how}, ${frames.length} frames, ${late} over 50 ms`, spread(frames), `aim: 50 ms at most; ${busy}`);
}

async function measureJobs(browser) {
  const home = new Home();
  try {
    await home.startDaemon();
    await home.berth("daemon", "pause");
    await home.submitLines(Array.from({ length: kJobs }, (_, i) => `python train.py --seed ${i + 1}`));
    const { state, origin } = await signIn(browser, home);
    const page = await freshPage(browser, state);
    await page.goto(`${origin}/#/jobs`);
    await page.getByText("100,000 jobs", { exact: true }).waitFor();
    await page.locator(`#job-${kJobs}`).hover();
    await measureScrolling(page, "wheel", async () => {
      for (let i = 0; i < 200; ++i) {
        await page.mouse.wheel(0, 400);
      }
    });
    await measureScrolling(page, "dragging", () =>
      page.locator(".job-table").evaluate(
        (table) =>
          new Promise((resolve) => {
            const begin = performance.now();
            const whole = table.scrollHeight - table.clientHeight;
            const step = (now) => {
              const part = Math.min((now - begin) / 4000, 1);
              table.scrollTop = whole * (1 - Math.abs(2 * part - 1)); // to the end and back
              if (part < 1) {
                requestAnimationFrame(step);
              } else {
                resolve();
              }
            };
            requestAnimationFrame(step);
          }),
      ),
    );
    await measureEvents(home, page, `the table of ${kJobs.toLocaleString("en")} jobs`, (id) =>
      document.querySelector(`#job-${id} .state-cancelled`) !== null);
  } finally {
    home.end();
  }
}

const browser = await launchBrowser();
try {
  await measureFirstView(browser);
  await measureJobs(browser);
} finally {
  await browser.close();
}
