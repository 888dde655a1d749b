// What the tests of the page share: a daemon with simulated devices, and Debian's Chromium signed in
// to it. After each test nothing is left running, no error was in the console, and no request went
// to anyone but the daemon.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { DEADLINE, Home, launchBrowser } from "./home.mjs";

export * from "./home.mjs";

let browser;

before(async () => {
  browser = await launchBrowser();
});

after(() => browser.close());

/// `test` with a home, and a browser window that is signed in at the overview.
///   devices: as --gpus names them; width, height, dark: of the window;
///   mayFail: errors in the console that belong to the test, such as those of a killed daemon
export function webTest(name, options, body) {
  test(name, { timeout: 3 * DEADLINE }, async (t) => {
    const home = new Home(options.devices);
    t.after(() => home.end());
    const context = await browser.newContext({
      viewport: { width: options.width ?? 1440, height: options.height ?? 900 },
      colorScheme: options.dark ? "dark" : "light",
      permissions: ["clipboard-read", "clipboard-write"],
    });
    context.setDefaultTimeout(DEADLINE);
    t.after(() => context.close());
    const complaints = [];
    const elsewhere = [];
    await options.prepare?.(home);
    const link = await home.link();
    const origin = new URL(link).origin;
    context.on("console", (message) => {
      const text = `${message.text()} ${message.location().url}`;
      if (message.type() === "error" && !options.mayFail?.test(text)) {
        complaints.push(text);
      }
    });
    context.on("weberror", (error) => complaints.push(String(error.error())));
    context.on("request", (request) => {
      const url = new URL(request.url());
      if (url.origin !== origin && !["data:", "blob:"].includes(url.protocol)) {
        elsewhere.push(request.url());
      }
    });
    const page = await context.newPage();
    await page.goto(link);
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
    await body({ home, page, context, origin, browser });
    assert.deepEqual(complaints, [], "errors in the console");
    assert.deepEqual(elsewhere, [], "requests to others");
  });
}
