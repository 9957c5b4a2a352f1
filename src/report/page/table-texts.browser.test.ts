import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { renderHtml } from './html.ts';
import { inventResult } from './invented-result.fixture.ts';
import { listOverlappingTexts } from './overlap.harness.ts';
import { withOneMetricMore, withSeeds } from './repeated-result.fixture.ts';
import { openSamplePage } from './sample-page.harness.ts';

const executable = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';
const missing = !existsSync(executable);
if (missing) console.warn(`skipped: texts of tables in a browser, no Chromium (set CHROMIUM_PATH): ${executable}`);

const one = inventResult(17, { arms: 5, threads: 19, turnsAThread: 7, top: 7 });
const RESULTS = {
  'of one seed': one,
  'of several seeds': withSeeds(one),
  'of one seed, with many metrics': withOneMetricMore(one),
  'of several seeds, with many metrics': withOneMetricMore(withSeeds(one)),
};

describe.skipIf(missing)('no two texts of a table overlap, effect sizes shown', () => {
  const folder = mkdtempSync(join(tmpdir(), 'table-texts-'));
  let browser: Browser;
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: executable, args: ['--no-sandbox'] });
  });
  afterAll(async () => {
    await browser.close();
    rmSync(folder, { recursive: true });
  });

  const cases = Object.entries(RESULTS).flatMap(([name, result]) =>
    [1400, 420].map((width) => [name, width, result] as const),
  );
  test.each(cases)('a run %s, %i px wide', async (_, width, result) => {
    const file = join(folder, 'report.html');
    writeFileSync(file, renderHtml(result));
    const page = await openSamplePage(browser, file, { width, colorScheme: 'light' }, []);
    for (const box of await page.locator('.with-effects').all()) await box.check();
    expect(await page.locator('table.ladder td.metric').count()).toBe(result.arms.length * result.metrics.length);
    expect(await listOverlappingTexts(page)).toEqual([]);
    await page.context().close();
  });
});
