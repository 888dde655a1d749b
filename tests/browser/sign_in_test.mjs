// Signing in by the link of `berth ui`, and who is kept out.
import assert from "node:assert/strict";
import http from "node:http";
import { DEADLINE, webTest } from "./case.mjs";

webTest("a link signs in once and leaves no code in the address", {}, async ({ home, page, browser }) => {
  assert.match(page.url(), /#\/$/);
  const link = await home.link();
  const elsewhere = await browser.newContext();
  const other = await elsewhere.newPage();
  await other.goto(link);
  await other.getByRole("heading", { name: "Overview" }).waitFor();
  const third = await (await browser.newContext()).newPage();
  await third.goto(link); // used up
  await third.getByText("The link did not work").waitFor();
  assert.doesNotMatch(third.url(), /login/);
  await elsewhere.close();
  await third.context().close();
});

webTest("a link is pasted into a tab that asks to sign in", { mayFail: /409|40\d/ }, async ({ home, origin, browser }) => {
  const context = await browser.newContext();
  context.setDefaultTimeout(DEADLINE);
  const page = await context.newPage();
  await page.goto(origin);
  await page.getByText("berth ui").waitFor();
  await page.evaluate(() => void (window.isTheSame = true));
  await page.goto(`${origin}/#/login/no-such-code`);
  await page.getByText("The link did not work").waitFor();
  await page.goto(await home.link());
  await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
  assert.ok(await page.evaluate(() => window.isTheSame), "it was loaded anew");
  assert.doesNotMatch(page.url(), /login/);
  await context.close();
});

// What a page has asked for when its session ends is answered with 401.
webTest("a second tab is signed in, and signing out in one does so in both", { mayFail: /401/ }, async ({ context, page, origin }) => {
  const second = await context.newPage();
  await second.goto(`${origin}/#/jobs`);
  await second.getByRole("heading", { level: 1, name: "Jobs" }).waitFor();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByText("berth ui").waitFor();
  await second.getByText("berth ui").waitFor();
});

webTest("a wrong token is told to sign in", { mayFail: /401/ }, async ({ page }) => {
  await page.evaluate(() => localStorage.setItem("berth-token", "0".repeat(64)));
  await page.reload();
  await page.getByText("berth ui").waitFor();
});

webTest("a page of another origin learns nothing and does nothing", { mayFail: /./ }, async ({ home, origin, browser }) => {
  const id = await home.submit("--hold", "--", "true");
  const evil = http.createServer((_, response) => {
    response.setHeader("Content-Type", "text/html");
    response.end("<!doctype html><title>evil</title>");
  });
  await new Promise((resolve) => evil.listen(0, "127.0.0.1", resolve));
  try {
    const context = await browser.newContext();
    context.setDefaultTimeout(DEADLINE);
    const page = await context.newPage();
    await page.goto(`http://127.0.0.1:${evil.address().port}/`);
    const tried = await page.evaluate(
      async ([berth, job]) => {
        const seen = [];
        for (const [path, init] of [
          ["/v1/jobs", {}],
          ["/", {}],
          [`/v1/jobs/kill?select=${job}`, { method: "POST" }],
          [`/v1/jobs/kill?select=${job}`, { method: "POST", mode: "no-cors" }],
          ["/v1/session", { method: "POST", body: '{"code":"x"}' }],
        ]) {
          seen.push(await fetch(berth + path, init).then((answer) => answer.text(), () => "refused"));
        }
        return seen;
      },
      [origin, id],
    );
    assert.deepEqual(tried, ["refused", "refused", "refused", "", "refused"]);
    await page.evaluate((berth) => {
      const frame = document.createElement("iframe");
      frame.src = berth;
      document.body.append(frame);
      return new Promise((resolve) => frame.addEventListener("load", resolve));
    }, origin);
    // What stands in the frame is the browser's own page about an error.
    assert.match(page.frames()[1].url(), /^chrome-error:/);
    await context.close();
  } finally {
    evil.close();
  }
  assert.equal((await home.job(id)).state, "held");
});

webTest("an address that makes no sense is told, not thrown", {}, async ({ page, origin }) => {
  await page.goto(`${origin}/#/jo%bs/%`);
  await page.getByText("There is no such page").waitFor();
});
