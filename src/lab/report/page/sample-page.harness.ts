import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';

/** Opens a page offline. @param complaints takes every message, error and request of it. @param ready an element that the page has when it is ready. */
export async function openSamplePage(
  browser: Browser,
  file: string,
  { width, colorScheme }: { readonly width: number; readonly colorScheme: 'light' | 'dark' },
  complaints: string[],
  ready = '#query-list button',
): Promise<Page> {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme, offline: true });
  const page = await context.newPage();
  page.on('console', (message) => complaints.push(`${message.type()}: ${message.text()}`));
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('dialog', (dialog) => complaints.push(`dialog: ${dialog.message()}`));
  page.on('request', (request) => {
    const url = request.url();
    const isOwn = url === pathToFileURL(file).href || url.startsWith('blob:'); // an image that is saved
    if (!isOwn) complaints.push(`request: ${url.slice(0, 100)}`);
  });
  await page.goto(pathToFileURL(file).href);
  await page.waitForSelector(ready);
  return page;
}

/** Brings a figure near, so that it is drawn. */
export async function awaitDrawn(page: Page, id: string): Promise<void> {
  await page.locator(`#${id}`).scrollIntoViewIfNeeded();
  await page.waitForSelector(`#${id}.drawn`);
}

/** The tables that are wider than their frames, with effect sizes and all that is folded shown. */
export async function listWideTables(page: Page): Promise<string[]> {
  for (const box of await page.locator('.with-effects').all()) await box.check();
  return page.evaluate(() => {
    for (const folded of document.querySelectorAll('details')) folded.open = true;
    const frames = [...document.querySelectorAll('.wide')].filter((frame) => frame.scrollWidth > frame.clientWidth);
    return frames.map((frame) => `${frame.getAttribute('aria-label')}: ${frame.scrollWidth}`);
  });
}
