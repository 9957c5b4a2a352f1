import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Browser, chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listPaleTexts } from '../src/lab/report/page/contrast.harness.ts';
import { tabThrough } from '../src/lab/report/page/keyboard.harness.ts';
import { buildSite } from './build.ts';

const executable = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';
const missing = !existsSync(executable);
if (missing) console.warn(`skipped: the site in a browser, no Chromium (set CHROMIUM_PATH): ${executable}`);

describe.skipIf(missing)('the site in Chromium, offline', () => {
  const site = mkdtempSync(join(tmpdir(), 'ragpp-site-'));
  let browser: Browser;

  beforeAll(async () => {
    buildSite(join(import.meta.dirname, '..'), site);
    browser = await chromium.launch({ executablePath: executable, args: ['--no-sandbox'] });
  });

  afterAll(async () => {
    await browser.close();
    rmSync(site, { recursive: true });
  });

  test.each([
    [1400, 'light'],
    [420, 'dark'],
  ] as const)('%d pixels wide, %s: no page scrolls sideways, wide tables do', async (width, colorScheme) => {
    const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme });
    for (const file of ['index', 'docs/config', 'docs/quickstart', 'reference/config', 'reference/commands']) {
      await page.goto(pathToFileURL(join(site, `${file}.html`)).href);
      expect(await page.evaluate(() => document.documentElement.scrollWidth), file).toBe(width);
    }
    for (const file of ['index', 'docs/config', 'reference/signals']) {
      await page.goto(pathToFileURL(join(site, `${file}.html`)).href);
      expect(await listPaleTexts(page), file).toEqual([]);
      // the text begins at the top of a phone, with a link to the list of pages below it
      const top = await page.locator('h1').evaluate((heading) => heading.getBoundingClientRect().top);
      expect(top, file).toBeLessThan(150);
      expect(await page.locator('.to-pages').isVisible()).toBe(width === 420);
    }
    if (width === 420) {
      await page.goto(pathToFileURL(join(site, 'docs/limits.html')).href);
      const { faults, missed } = await tabThrough(page);
      expect([...faults, ...missed]).toEqual([]);
    }
    await page.goto(pathToFileURL(join(site, 'docs/quickstart.html')).href);
    const frame = page.locator('.wide').first();
    if (width === 420) expect(await frame.evaluate((box) => box.scrollWidth > box.clientWidth)).toBe(true);
    const colours = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    expect(colours).toBe(colorScheme === 'light' ? 'rgb(253, 252, 250)' : 'rgb(22, 22, 20)');
    await page.close();
  });
});
