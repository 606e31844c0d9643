// A browser, and pages that notice what a reader would not: errors, and anything loaded.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { join } from "node:path";

const require = createRequire(join(process.env.BERTH_WEB, "package.json"));
const { chromium } = require("playwright-core");
export const axeSource = require("axe-core").source;

export const folder = process.env.BERTH_WEB_PAGES;

let browser;
export async function started() {
  browser ??= await chromium.launch({ executablePath: process.env.BERTH_CHROMIUM, args: ["--no-sandbox", "--disable-gpu"] });
  return browser;
}
export async function stopped() {
  await browser?.close();
}

/** Opens a page of the folder. `faults` has what must not be. */
export async function opened(name, options = {}) {
  const context = await (await started()).newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  const faults = [];
  page.on("console", (message) => {
    // The tests themselves read pixels.
    if (message.text().includes("willReadFrequently")) return;
    if (["error", "warning"].includes(message.type())) faults.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => faults.push(`error: ${error.stack}`));
  page.on("dialog", (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("request", (request) => {
    if (!/^(file|data|blob):/.test(request.url())) faults.push(`loads ${request.url()}`);
  });
  const begin = performance.now();
  await page.goto(pathToFileURL(join(folder, name)).href);
  if (options.javaScriptEnabled !== false) await page.waitForSelector("html[data-ready=yes]");
  return { page, faults, context, openedMs: performance.now() - begin };
}

/** Scrolls to a section, so that it is drawn. */
export async function seen(page, selector) {
  await page.locator(selector).first().scrollIntoViewIfNeeded();
  return page.locator(selector).first();
}

/** Until what the function gives is true. */
export async function until(page, what, argument) {
  await page.waitForFunction(what, argument, { timeout: 15000 });
}
