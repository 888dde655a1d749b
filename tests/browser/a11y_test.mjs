// Every page for everybody: what axe-core finds, nothing beyond the edge of a phone, and all of it by
// keyboard.
import assert from "node:assert/strict";
import fs from "node:fs";
import { axePath, webTest } from "./case.mjs";

const axe = fs.readFileSync(axePath, "utf8");

/// Something of everything.
async function prepare(home) {
  const berth = process.env.BERTH;
  const colours = "printf '\\033[1;32mgreen\\033[0m \\033[31mred\\033[0m \\033[34mblue\\033[0m\\n'; seq 100";
  await home.submit("--name", "done", "--project", "vision", "--label", "team=a", "--", `${colours}; ${berth} simjob --mem 6GiB --hold 1ms`);
  await home.submit("--name", "a name that is quite long ".repeat(4), "--", "exit 3");
  await home.submit("--name", "big", "--mem", "4GiB", "--", `${berth} simjob --mem 40GiB`);
  await home.berth("sweep", "true {lr} {bs}", "-p", "lr", "0.1", "0.01", "-p", "bs", "16", "32", "--submit", "--name", "search");
  await home.berth("wait").catch(() => "some fail");
  await home.submit("--name", "running", "--mem", "6GiB", "--expected", "1h", "--", `${colours}; ${berth} simjob --mem 5GiB --hold 1h`);
  await home.submit("--name", "alone", "--gpus", "4", "--expected", "1h", "--", "true");
  await home.submit("--name", "held", "--hold", "--", "true");
  await home.until(8, (job) => job.state === "running");
}

const click = (name) => (page) => page.getByRole("main").getByRole("button", { name, exact: true }).click();

// The address, what is there when it can be looked at, and what is done before.
const pages = [
  ["", (page) => page.getByRole("link", { name: "running" }).first()],
  ["jobs", (page) => page.getByRole("row", { name: /held/ }).first()],
  ["jobs/1", (page) => page.getByText("green")],
  ["jobs/8", (page) => page.getByText("green")],
  ["jobs/9", (page) => page.getByRole("dialog"), click("Edit")],
  ["jobs/8", (page) => page.getByRole("dialog", { name: "Kill this job?" }), click("Kill")],
  ["jobs", (page) => page.getByText("will be forgotten"), async (page) => {
    await page.getByRole("button", { name: "Tidy up" }).click();
    await page.getByLabel("That ended").selectOption("at any time");
  }],
  ["jobs?group=sweep", (page) => page.getByRole("list", { name: "Sweeps" }).getByText("4 jobs")],
  ["jobs/2", (page) => page.getByRole("region", { name: /^Failed with exit 3/ })],
  ["add/form", (page) => page.getByText("is not a time"), async (page) => {
    await page.getByText("More", { exact: true }).click();
    await page.getByRole("textbox", { name: "Time limit" }).fill("long");
  }],
  ["add/text", (page) => page.getByText("Line 1, column 1"), (page) => page.getByRole("textbox", { name: "Jobs" }).fill("@nam=x true\ntrue")],
  ["add/sweep", (page) => page.getByText("2 jobs would be queued"), async (page) => {
    await page.getByRole("textbox", { name: "Command" }).fill("true {lr}");
    await page.getByRole("textbox", { name: "Name 1" }).fill("lr");
    await page.getByRole("textbox", { name: "Values 1" }).fill("0.1 0.01");
  }],
  ["add/csv", (page) => page.getByRole("textbox", { name: "CSV" })],
  ["timeline", (page) => page.getByRole("application")],
  ["timeline?table=1", (page) => page.getByRole("region", { name: "Jobs in this time" })],
  ["sweeps", (page) => page.getByRole("link", { name: "search" })],
  ["sweeps/search", (page) => page.getByText("4 of 4 ended")],
  ["sweeps/search?show=values", (page) => page.getByRole("region", { name: "By value" })],
  ["whatif", (page) => page.getByRole("img", { name: /under fifo/ }), click("Compare")],
  ["devices", (page) => page.getByRole("combobox", { name: /^Policy/ })],
  ["devices", (page) => page.getByRole("dialog"), click("Pause")],
];

async function visit(page, origin, [address, ready, act]) {
  await page.goto(`${origin}/#/nowhere`); // dialogs do not stay
  await page.getByText("There is no such page").waitFor();
  assert.equal(await page.getByRole("dialog").count(), 0);
  await page.goto(`${origin}/#/${address}`);
  await act?.(page);
  await ready(page).waitFor();
}

async function findings(page) {
  const { violations, passes } = await page.evaluate(
    () => window.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"] }),
  );
  assert.ok(passes.length > 10, "axe-core has not looked");
  return violations
    .filter(({ impact }) => ["serious", "critical"].includes(impact))
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).slice(0, 3).join(" | ")}`);
}

for (const width of [1440, 390]) {
  for (const dark of [false, true]) {
    const height = width === 390 ? 844 : 900;
    webTest(`axe-core at ${width} pixels, ${dark ? "dark" : "light"}`, { width, height, dark, prepare, mayFail: /404/ }, async ({ page, origin }) => {
      const found = [];
      await page.evaluate(axe);
      for (const one of pages) {
        await visit(page, origin, one);
        found.push(...(await findings(page)).map((text) => `${one[0]}: ${text}`));
        const beyond = await page.evaluate(() => {
          const main = document.getElementById("main");
          return Math.max(document.documentElement.scrollWidth - innerWidth, main.scrollWidth - main.clientWidth);
        });
        if (beyond > 0) {
          found.push(`${one[0]}: ${beyond} pixels beyond the edge`);
        }
      }
      assert.deepEqual(found, []);
    });
  }
}

webTest("a phone can sign out and use the tables", { width: 390, height: 844, prepare, mayFail: /401|404/ }, async ({ page, origin }) => {
  const fits = () => page.evaluate(() => document.documentElement.scrollWidth <= innerWidth);
  await page.goto(`${origin}/#/jobs`);
  const first = page.getByRole("row", { name: /held/ }).first();
  await first.waitFor();
  const box = await first.boundingBox();
  assert.ok(box.x >= 0 && box.x + box.width <= 390, "a row is as wide as the screen");
  await page.getByText("⋯", { exact: true }).click();
  const out = page.getByRole("button", { name: "Sign out" });
  const place = await out.boundingBox();
  assert.ok(place.x >= 0 && place.x + place.width <= 390 && place.y + place.height <= 844, "the button is in sight");
  assert.ok(await fits());
  await out.click();
  await page.getByText("berth ui").waitFor();
  assert.ok(await fits());
});

/// The next Tab is the first one. A dialog keeps it anyway.
function toTheBeginning(page) {
  return page.evaluate(() => {
    const start = document.createElement("span");
    start.tabIndex = -1;
    document.body.prepend(start);
    start.focus();
    start.addEventListener("blur", () => start.remove());
  });
}

/// Goes on by Tab from the beginning until it is left, and tells every stop.
async function tabThrough(page) {
  const stops = [];
  let left = false;
  await page.evaluate(() => document.querySelectorAll("[data-visited]").forEach((one) => delete one.dataset.visited));
  await toTheBeginning(page);
  for (;;) {
    await page.keyboard.press("Tab");
    const stop = await page.evaluate(() => {
      const element = document.activeElement;
      if (!element || element === document.body) {
        return "left";
      }
      if (element.dataset.visited) {
        return null;
      }
      element.dataset.visited = "1";
      const marked = (one) => {
        const style = one && getComputedStyle(one);
        return style && style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0;
      };
      // A radio is hidden behind the text beside it, a file behind its label.
      const shown = [element, element.nextElementSibling, element.parentElement].find(marked);
      const box = (shown ?? element).getBoundingClientRect();
      return {
        name: `${element.tagName} ${element.getAttribute("aria-label") ?? element.textContent?.slice(0, 30) ?? ""}`,
        marked: Boolean(shown),
        inView: box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth,
      };
    });
    if (stop === "left" && !left) {
      left = true; // a dialog begins in its middle
    } else if (stop === "left" || !stop) {
      return stops;
    } else {
      stops.push(stop);
    }
  }
}

/// What can be used, seen and was not reached. Of radios that belong together one is enough.
function missed(page) {
  return page.evaluate(() =>
    [...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex='0']")]
      .filter((one) => !one.disabled && !one.dataset.visited && one.tabIndex >= 0 && one.checkVisibility({ visibilityProperty: true }))
      .filter((one) => !(one.type === "radio" && document.querySelector(`input[name="${one.name}"][data-visited]`)))
      .map((one) => one.outerHTML.slice(0, 120)),
  );
}

webTest("all of every page is reached by Tab, and one sees where one is", { prepare, mayFail: /404/ }, async ({ page, origin }) => {
  const wrong = [];
  for (const one of pages) {
    await visit(page, origin, one);
    const isDialog = (await page.getByRole("dialog").count()) > 0;
    const stops = await tabThrough(page);
    wrong.push(...stops.filter(({ marked }) => !marked).map(({ name }) => `${one[0]}: no mark on ${name}`));
    wrong.push(...stops.filter(({ inView }) => !inView).map(({ name }) => `${one[0]}: out of sight: ${name}`));
    if (isDialog) {
      assert.ok(stops.length >= 2, "the dialog's buttons");
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });
    } else {
      assert.match(stops[0].name, /To the content/);
      wrong.push(...(await missed(page)).map((html) => `${one[0]}: not reached: ${html}`));
    }
    assert.equal(await page.locator("[tabindex]:not([tabindex='0']):not([tabindex='-1'])").count(), 0);
  }
  assert.deepEqual(wrong, []);
});

webTest("every page is opened by keyboard alone", {}, async ({ page }) => {
  const titles = { Overview: "Overview", Jobs: "Jobs", "Add jobs": "Add jobs", Timeline: "Timeline", Sweeps: "Sweeps", "What if": "What if", Devices: "Devices and scheduler" };
  for (const [link, title] of Object.entries(titles)) {
    await toTheBeginning(page);
    for (;;) {
      await page.keyboard.press("Tab");
      const text = await page.evaluate(() => document.activeElement.closest("nav[aria-label=Pages] a")?.firstChild.textContent);
      if (text === link) {
        break;
      }
    }
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: title, exact: true }).waitFor();
  }
  // Another page begins at its top.
  await page.setViewportSize({ width: 390, height: 400 });
  await page.evaluate(() => window.scrollTo(0, 300));
  assert.equal(await page.evaluate(() => window.scrollY), 300);
  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "What if" }).click();
  await page.getByRole("heading", { level: 1, name: "What if" }).waitFor();
  assert.equal(await page.evaluate(() => window.scrollY), 0);
  // Past all that stands around it, at once.
  await toTheBeginning(page);
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement.id), "main");
});
