import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { renderHtml } from './html.ts';
import { inventSweep, type SweepSize } from './invented-sweep.fixture.ts';
import { INSPECTED_ARMS } from './payload.ts';
import { awaitDrawn, listWideTables, openSamplePage } from './sample-page.harness.ts';

const executable = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';
const missing = !existsSync(executable);
if (missing) console.warn(`skipped: a large report in a browser, no Chromium (set CHROMIUM_PATH): ${executable}`);

/** 11 x 6 x 3 arms of a sweep, two others and two null controls; 202 queries. */
const SIZE: SweepSize = { levels: [11, 6, 3], threads: 101, turnsAThread: 7, top: 10 };
const ARMS = 11 * 6 * 3 + 4;

describe('the report of a sweep of 200 arms', () => {
  const folder = mkdtempSync(join(tmpdir(), 'large-report-'));
  const file = join(folder, 'report.html');
  let browser: Browser | undefined;
  let page: Page;
  const complaints: string[] = [];
  beforeAll(async () => {
    writeFileSync(file, renderHtml(inventSweep(19, SIZE)));
    if (missing) return;
    browser = await chromium.launch({ executablePath: executable, args: ['--no-sandbox'] });
    page = await openSamplePage(browser, file, { width: 1400, colorScheme: 'light' }, complaints);
  });
  afterAll(async () => {
    await browser?.close();
    rmSync(folder, { recursive: true });
  });

  test('stays a file that can be mailed', () => {
    expect(statSync(file).size).toBeLessThan(15e6);
  });

  describe.skipIf(missing)('in Chromium, offline', () => {
    const locateRows = () => page.locator('table.ladder tbody tr:visible');
    const readLargeRowNames = async (): Promise<(string | null)[]> =>
      locateRows().evaluateAll((all) => all.map((row) => row.getAttribute('data-arm')));

    test('every arm is a row, those without figures as well', async () => {
      expect(await locateRows().count()).toBe(ARMS + 2);
      expect(await page.locator('#arm-count').textContent()).toBe(String(ARMS));
    });

    test('every table fits its frame', async () => {
      expect(await listWideTables(page)).toEqual([]);
      await page.uncheck('.with-effects');
    });

    test('arms sort by name, numbers in it by their size', async () => {
      const button = page.locator('table.ladder thead th.arm button');
      await button.click();
      const weights = (await readLargeRowNames()).flatMap(
        (name) => /^unified \| weight=(\d+)/.exec(name ?? '')?.slice(1) ?? [],
      );
      expect(weights).toHaveLength(11 * 6 * 3);
      expect(weights.map(Number)).toEqual(weights.map(Number).toSorted((a, b) => a - b));
      expect(new Set(weights).size).toBeGreaterThan(2);
      await button.click();
      await button.click();
    });

    test('sorting keeps controls below their arm and arms without figures last', async () => {
      const heading = page.locator('table.ladder th', { hasText: 'mrr@10' }).locator('button');
      for (const direction of ['descending', 'ascending']) {
        await heading.click();
        const sorted = await readLargeRowNames();
        const at = sorted.indexOf('bm25');
        expect(sorted.slice(at + 1, at + 3), direction).toEqual([
          'bm25 | control=permuted-order',
          'bm25 | control=random-parents',
        ]);
        expect(sorted.slice(-2).toSorted(), direction).toEqual(['weight=9 | hopeless', 'weight=<broken>']);
        const values = await page
          .locator('table.ladder tbody tr:not(.is-control) td:nth-of-type(1)[data-value]')
          .evaluateAll((cells) => cells.map((cell) => Number(cell.getAttribute('data-value'))));
        expect(values, direction).toEqual(values.toSorted((a, b) => (direction === 'ascending' ? a - b : b - a)));
      }
    });

    test('figures hold the best of the shown arms, the filter says which are shown', async () => {
      await awaitDrawn(page, 'arms-figure');
      expect(await page.locator('#arms-figure .scatterlayer .point').count()).toBe(60);
      expect(await page.locator('#arms-count').textContent()).toMatch(/^The 60 best of 202 arms by mrr@10/);
      await page.fill('#arm-filter', 'weight=2.5 week');
      expect((await readLargeRowNames()).toSorted()).toEqual(
        [1, 11, 3, 5, 7, 9].map((window) => `unified | weight=2.5, window=${window}, decay=a week`),
      );
      await expect.poll(() => page.locator('#arms-figure .scatterlayer .point').count()).toBe(6);
      expect(await page.locator('#arm-count').textContent()).toBe('6 of 202');
      expect(await page.locator('#parameters tbody th:visible').allTextContents()).toEqual(
        [3, 9].map((window) => `unified | weight=2.5, window=${window}, decay=a week`),
      );
      await page.fill('#arm-filter', 'nobody');
      expect(await page.locator('#arms-count').textContent()).toBe('No arm has such a name.');
      await page.fill('#arm-filter', '');
      expect(await locateRows().count()).toBe(ARMS + 2);
    });

    test('the sweep is drawn by any two factors, the third averaged or held', async () => {
      await awaitDrawn(page, 'heat-map');
      await awaitDrawn(page, 'interaction-plot');
      const countHeatLabels = () => page.locator('#heat-map .bars .bartext').count();
      const countDrawnSeries = () => page.locator('#interaction-plot .scatterlayer .trace').count();
      expect([await countHeatLabels(), await countDrawnSeries()]).toEqual([66, 6]);
      await page.selectOption('#sweep-by', { label: 'decay' });
      await expect.poll(countHeatLabels).toBe(33);
      await expect.poll(countDrawnSeries).toBe(3);
      const averaged = await page.locator('#heat-map .bars .bartext').allTextContents();
      await page.selectOption('#sweep-held-1', { label: '5' });
      await expect.poll(() => page.locator('#heat-map .bars .bartext').allTextContents()).not.toEqual(averaged);
      await page.selectOption('#sweep-across', { label: 'decay' });
      expect(await page.inputValue('#sweep-by')).toBe('0');
      await page.selectOption('#sweep-by', { label: 'nothing' });
      expect(await page.locator('#sweep-map').isVisible()).toBe(false);
      await expect.poll(countDrawnSeries).toBe(1);
      await awaitDrawn(page, 'parallel-coordinates');
      expect(await page.locator('#parallel-coordinates .scatterlayer .trace').count()).toBe(ARMS - 4);
    });

    test('strata, fates and latencies are drawn for the chosen arm', async () => {
      await awaitDrawn(page, 'strata-figure');
      expect(await page.locator('#strata-figure .scatterlayer .point').count()).toBe(5);
      await awaitDrawn(page, 'attribution-figure');
      expect(await page.locator('#attribution-figure .bars').count()).toBe(4);
      await awaitDrawn(page, 'evidence-figure');
      expect(await page.locator('#evidence-figure .scatterlayer .trace').count()).toBe(9); // eight arms and a ceiling
      await awaitDrawn(page, 'conservation-figure');
      expect(await page.locator('#conservation-note').textContent()).toMatch(/ was not measured\.$/);
      await page.selectOption('#conservation-arm', { label: 'newest-first' });
      await expect.poll(() => page.locator('#conservation-figure .scatterlayer .trace').count()).toBe(9); // three sets in three panels
      await page.selectOption('#conservation-arm', { index: 8 });
      await awaitDrawn(page, 'latency-figure');
      expect(await page.locator('#latency-note').textContent()).toMatch(/ was not timed\.$/);
      await page.selectOption('#latency-arm', { label: 'newest-first' });
      await expect.poll(() => page.locator('#latency-figure .scatterlayer .point').count()).toBe(12);
      expect(await page.locator('#latency-note').textContent()).toBe('');
    });

    test('the inspector lists its rankings, and the fate of a relevant turn', async () => {
      expect(await page.locator('#inspector > .legend').textContent()).toContain(
        `${INSPECTED_ARMS} of the ${ARMS} arms`,
      );
      const others = page.locator('#inspector-left option', { hasText: '(no rankings)' });
      expect(await others.count()).toBe(ARMS - INSPECTED_ARMS);
      await page.selectOption('#inspector-left', { label: (await others.first().textContent()) ?? '' });
      expect(await page.locator('#rankings .column').first().textContent()).toContain('does not hold the rankings');
      await page.selectOption('#inspector-left', { label: 'bm25' });
      await page.selectOption('#query-order', 'gain');
      await page.locator('#query-list button').first().click();
      const fate = page.locator('.thread .place', { hasText: 'parent 3' }).locator('.fate');
      expect(await fate.allTextContents()).toEqual([expect.stringMatching(/^A ✗ (candidates|relevance|rerank)$/)]);
    });

    test('the list keeps the queries of a stratum, of a changed rank and of a stage; the address restores all of it', async () => {
      await page.selectOption('#inspector-right', { label: 'newest-first' });
      const count = async () => Number(/^\d+/.exec((await page.locator('#query-count').textContent()) ?? '')?.[0]);
      const all = await count();
      await page.selectOption('#query-stratum', { index: 1 });
      const level = await page.inputValue('#query-stratum');
      const labelled = await page.locator('#query-stratum option:checked').textContent();
      expect(await count()).toBe(Number(/\((\d+)\)$/.exec(labelled ?? '')?.[1]));
      await page.selectOption('#query-moved', 'changed');
      await page.selectOption('#query-lost', 'candidates');
      const kept = await count();
      expect(kept).toBeGreaterThan(0);
      expect(kept).toBeLessThan(all);
      await page.locator('#query-list button').last().click();
      await page.selectOption('#inspector-metric', { index: 1 });
      await page.selectOption('#query-order', 'time');
      const read = async () => ({
        values: await page
          .locator('#inspector select')
          .evaluateAll((selects) => selects.map((select) => (select as HTMLSelectElement).value)),
        query: await page.locator('.query-text').textContent(),
        list: await page.locator('#query-list .line').allTextContents(),
      });
      const before = await read();
      expect(before.values).toContain(level);
      await expect.poll(() => page.url()).toMatch(/order=time/);
      await page.locator('nav a[href="#strata"]').click();
      await expect.poll(() => page.url()).toMatch(/lost=candidates/);
      await page.reload();
      await page.waitForSelector('#query-list button');
      expect(await read()).toEqual(before);
    });

    test('effect sizes are shown when asked for', async () => {
      const effects = page.locator('table.ladder .effects').first();
      expect(await effects.isVisible()).toBe(false);
      await page.check('#with-effects');
      expect(await effects.isVisible()).toBe(true);
      expect(await effects.textContent()).toMatch(/^d [−+.\d]+ · mde [.\d]+w\/t\/l \d+\/\d+\/\d+$/);
    });

    test('nothing was requested and nothing complained', () => {
      expect(complaints).toEqual([]);
    });
  });
});
