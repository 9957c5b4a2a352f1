import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { withFailedBaseline } from '../tables/failed-baseline.fixture.ts';
import { listPaleTexts } from './contrast.harness.ts';
import { renderHtml } from './html.ts';
import { inventResult } from './invented-result.fixture.ts';
import { tabThrough } from './keyboard.harness.ts';
import { awaitDrawn, listWideTables, openSamplePage } from './sample-page.harness.ts';
import { inventScoredResult } from './scored-result.fixture.ts';

const executable = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';
const missing = !existsSync(executable);
if (missing) console.warn(`skipped: the report in a browser, no Chromium (set CHROMIUM_PATH): ${executable}`);

const SIZE = { arms: 5, threads: 19, turnsAThread: 7, top: 7 };
const result = inventResult(17, SIZE);

describe.skipIf(missing)('the report in Chromium, offline', () => {
  const folder = mkdtempSync(join(tmpdir(), 'report-'));
  const file = join(folder, 'report.html');
  let browser: Browser;
  let page: Page;
  const complaints: string[] = [];

  beforeAll(async () => {
    writeFileSync(file, renderHtml(result));
    browser = await chromium.launch({ executablePath: executable, args: ['--no-sandbox'] });
    page = await open(1400, 'light');
  });

  afterAll(async () => {
    await browser.close();
    rmSync(folder, { recursive: true });
  });

  const open = (width: number, colorScheme: 'light' | 'dark') =>
    openSamplePage(browser, file, { width, colorScheme }, complaints);

  test.each([
    ['opened wide', 1400, () => Promise.resolve(page)],
    ['opened narrow and dark', 420, () => open(420, 'dark')],
  ] as const)('%s, the page is complete and does not scroll sideways', async (_, width, opened) => {
    const shown = await opened();
    for (const id of ['arms-figure', 'gains-figure']) await awaitDrawn(shown, id);
    expect(await shown.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
    expect(await shown.locator('#arms-figure .scatterlayer .point').count()).toBe(SIZE.arms);
    expect(await shown.locator('#gains-figure .bars .point').count()).toBe(result.queries.length);
    expect(await shown.locator('#rankings .column').count()).toBe(2);
  });

  test('the first figure has every arm but the baseline, a panel a metric; a narrow page the chosen one alone', async () => {
    await awaitDrawn(page, 'differences-figure');
    expect(await page.locator('.figure').first().getAttribute('id')).toBe('differences-figure');
    const points = page.locator('#differences-figure .scatterlayer .point');
    expect(await points.count()).toBe((SIZE.arms - 1) * result.metrics.length);
    const narrow = await open(420, 'light');
    await awaitDrawn(narrow, 'differences-figure');
    expect(await narrow.locator('#differences-figure .scatterlayer .point').count()).toBe(SIZE.arms - 1);
    await narrow.close();
  });

  test.each(['SVG', 'PNG'])('a figure is saved as %s on the background of the page', async (format) => {
    await awaitDrawn(page, 'arms-figure');
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: `save arms figure as ${format}` }).press('Enter');
    const download = await saved;
    expect(download.suggestedFilename()).toBe(`sample-3f9a1c20-arms-figure.${format.toLowerCase()}`);
    const bytes = readFileSync(await download.path());
    const box = await page.locator('#arms-figure').boundingBox();
    if (format === 'PNG') {
      expect(bytes.readUInt32BE(16)).toBe(2 * (box?.width ?? 0)); // the header of a PNG file
    } else {
      const text = bytes.toString();
      expect(text).toMatch(/^<svg [^>]*xmlns="http:\/\/www.w3.org\/2000\/svg"/);
      expect(text).toContain('fill: rgb(253, 252, 250)');
      for (const { name } of result.arms) expect(text).toContain(name);
    }
  });

  test('a heading sorts the table, by keyboard as well, and says so', async () => {
    const rows = page.locator('table.ladder tbody tr');
    const readShownValues = () => rows.locator('td:nth-of-type(2) .value').allTextContents();
    const shown = result.arms.map((arm) => arm.metrics['recall@10']?.mean.toFixed(3).replace(/^0/, '') ?? '');
    const heading = page.locator('table.ladder th', { hasText: 'recall@10' });
    await heading.locator('button').click();
    expect(await readShownValues()).toEqual(shown.toSorted().toReversed());
    expect(await heading.getAttribute('aria-sort')).toBe('descending');
    await heading.locator('button').press('Enter');
    expect(await readShownValues()).toEqual(shown.toSorted());
    expect(await heading.getAttribute('aria-sort')).toBe('ascending');
    await heading.locator('button').click();
    expect(await readShownValues()).toEqual(shown);
    expect(await page.locator('table.ladder [aria-sort]').count()).toBe(0);
  });

  test('arms sort by name, and a third use of the heading restores the order of the ladder', async () => {
    const rows = page.locator('table.ladder tbody tr');
    const readRowNames = () => rows.evaluateAll((all) => all.map((row) => row.getAttribute('data-arm')));
    const button = page.locator('table.ladder thead th.arm button');
    const order = await readRowNames();
    const sorted = ['bm25', 'cosine', 'hybrid', 'hybrid-decay', 'newest-first'];
    for (const expected of [sorted, sorted.toReversed(), order]) {
      await button.click();
      expect(await readRowNames()).toEqual(expected);
    }
    expect(order).not.toEqual(sorted);
  });

  test('a query is found, opened and shown arm by arm with its thread', async () => {
    const wanted = result.queries[8];
    await page.fill('#query-words', wanted?.id ?? '');
    await page.locator('#query-list button').first().click();
    expect(await page.locator('#query-card').textContent()).toContain(wanted?.id);
    expect(await page.locator('.query-text').textContent()).toBe(wanted?.text);
    await page.selectOption('#inspector-left', { label: 'hybrid' });
    await page.selectOption('#inspector-right', { label: 'newest-first' });
    const columns = page.locator('#rankings .column');
    for (const [at, name] of ['hybrid', 'newest-first'].entries()) {
      const arm = result.arms.find((one) => one.name === name);
      const ranking = arm?.rankings[8] ?? [];
      const texts = ranking.map(({ id }) => result.dataset.turns.find((turn) => turn.id === id)?.text);
      expect(await columns.nth(at).locator('.snippet').allTextContents()).toEqual(texts);
      expect(await columns.nth(at).locator('.candidate').first().locator('dt').allTextContents()).toEqual(
        arm?.componentNames,
      );
      const reasons = ranking.flatMap(({ reason }) => reason ?? []);
      expect(await columns.nth(at).locator('.reason').allTextContents()).toEqual(reasons);
      const parent = ranking.findIndex(({ id }) => wanted?.judgements[id] === 3);
      const badges = await columns.nth(at).locator('.candidate .badge').allTextContents();
      expect(badges.indexOf('parent 3')).toBe(parent);
    }
    const places = page.locator('.thread .place');
    expect(await places.count()).toBe(SIZE.turnsAThread);
    expect(await page.locator('.thread .is-query .line').textContent()).toBe(wanted?.text.slice(0, 240));
    expect(await page.locator('.thread .grade-3').count()).toBe(1);
    const thread = result.dataset.turns.filter(({ conversationId }) => conversationId === wanted?.cluster);
    const later = thread.filter(({ id, timestamp }) => timestamp >= (wanted?.timestamp ?? 0) && id !== wanted?.turnId);
    const lines = page.locator('.thread .later .line');
    expect((await lines.allTextContents()).toSorted()).toEqual(later.map(({ text }) => text.slice(0, 240)).toSorted());
    expect([later.length > 0, later.length < thread.length - 1]).toEqual([true, true]);
  });

  test('the parts of a score are a bar that adds up to it, on the scale of its ranking', async () => {
    const ranking = result.arms.find(({ name }) => name === 'hybrid')?.rankings[8] ?? [];
    const column = page.locator('#rankings .column').first();
    const bars = column.locator('.stack');
    const labels = await bars.evaluateAll((all) => all.map((bar) => bar.getAttribute('aria-label')));
    const sums = labels.map((label) => Number(/; sum (\S+)$/.exec(label ?? '')?.[1]));
    expect(sums).toEqual(ranking.map(({ score }) => expect.closeTo(score, 3)));
    const widths = await bars.evaluateAll((all) =>
      all.map((bar) => [...bar.querySelectorAll('span')].map((part) => part.getBoundingClientRect().width)),
    );
    const unit = (widths[0]?.[0] ?? 0) / Math.abs(ranking[0]?.contributions?.[0] ?? 0);
    for (const [place, { contributions = [] }] of ranking.entries())
      expect(widths[place]).toEqual(contributions.map((part) => expect.closeTo(Math.abs(part) * unit, 0)));
    expect(await column.locator('.parts li').allTextContents()).toEqual([
      ...(result.arms.find(({ name }) => name === 'hybrid')?.contributionNames ?? []),
      'add up to the score',
    ]);
  });

  test('arm, metric and order drive the list, the arrow keys go through it', async () => {
    await page.fill('#query-words', '');
    await page.selectOption('#inspector-left', { label: 'bm25' });
    await page.selectOption('#gains-arm', { label: 'cosine' });
    await page.selectOption('#gains-metric', { label: 'recall@1' });
    await page.selectOption('#query-order', 'loss');
    expect(await page.inputValue('#inspector-right')).toBe('2');
    const [base, cosine] = [result.arms[1], result.arms[2]].map((arm) => arm?.perQuery['recall@1'] ?? []);
    const gains = result.queries.map((_, query) => (cosine?.[query] ?? 0) - (base?.[query] ?? 0)).sort((a, b) => a - b);
    const words = { '-1': '−1.000', '0': '.000', '1': '+1.000' } as Readonly<Record<string, string>>;
    expect(await page.locator('#query-list .gain').allTextContents()).toEqual(gains.map((gain) => words[gain]));
    await page.locator('#query-list button').first().focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    expect(await page.locator('#query-list button').nth(1).getAttribute('aria-current')).toBe('true');
    expect(await page.locator('#gains-summary').textContent()).toContain(
      `${gains.filter((gain) => gain < 0).length} lose`,
    );
  });

  test('a click on a bar opens its query', async () => {
    await page.selectOption('#query-order', 'loss');
    await awaitDrawn(page, 'gains-figure');
    const last = page.locator('#gains-figure .bars .point').last();
    const box = await last.boundingBox();
    await page.mouse.click((box?.x ?? 0) + (box?.width ?? 0) / 2, (box?.y ?? 0) + (box?.height ?? 0) / 2);
    const opened = await page.locator('#query-list [aria-current] .gain').textContent();
    expect(opened).toBe(await page.locator('#query-list .gain').first().textContent());
  });

  test('without its baseline the page opens on the other arms', async () => {
    const other = join(folder, 'failed-baseline.html');
    writeFileSync(other, renderHtml(withFailedBaseline(result)));
    const shown = await openSamplePage(browser, other, { width: 1400, colorScheme: 'light' }, complaints);
    await awaitDrawn(shown, 'arms-figure');
    expect(await shown.locator('#arms-figure .scatterlayer .point').count()).toBe(SIZE.arms - 1);
    expect(await shown.locator('#gains').count()).toBe(0);
    expect(await shown.locator('#rankings .column').count()).toBe(2);
    const chosen = await Promise.all(['left', 'right'].map((side) => shown.inputValue(`#inspector-${side}`)));
    expect(new Set(chosen).size).toBe(2);
    expect(await shown.locator('#query-count').textContent()).not.toContain('undefined');
  });

  test('the page of scored run files lists their documents and says what it cannot draw', async () => {
    const scored = join(folder, 'scored.html');
    writeFileSync(scored, renderHtml(inventScoredResult()));
    const shown = await openSamplePage(browser, scored, { width: 1400, colorScheme: 'light' }, complaints);
    await shown.locator('#query-list button', { hasText: 'q4' }).click();
    const columns = shown.locator('#rankings .column');
    for (const [at, step] of [1, 3].entries())
      expect(await columns.nth(at).locator('.snippet').allTextContents()).toEqual(
        Array.from({ length: 10 }, (_, rank) => `d${(4 + step * rank) % 13}`),
      );
    expect(await shown.locator('#rankings').textContent()).not.toContain('earlier');
    expect(await shown.locator('#thread-absence').isVisible()).toBe(true);
    expect(await shown.locator('.opened .figure:visible').count()).toBe(0);
    expect(await shown.locator('.opened').textContent()).toContain('No arm with rankings on this page has attention');
    await shown.selectOption('#query-moved', 'changed');
    expect(Number(/^\d+/.exec((await shown.locator('#query-count').textContent()) ?? '')?.[0])).toBeGreaterThan(0);
    await shown.context().close();
  });

  test('every table fits its frame, with effect sizes and all that is folded', async () => {
    const shown = await open(1400, 'light');
    expect(await listWideTables(shown)).toEqual([]);
  });

  test.each([
    [1400, 'light'],
    [1400, 'dark'],
    [420, 'light'],
    [420, 'dark'],
  ] as const)('at %i px and %s, every text has the contrast of AA, and nothing is cut off', async (width, scheme) => {
    const shown = await open(width, scheme);
    const ids = await shown.locator('.figure:visible').evaluateAll((nodes) => nodes.map(({ id }) => id));
    expect(ids).toEqual(expect.arrayContaining(['differences-figure', 'thread-figure', 'attention-figure']));
    for (const id of ids) await awaitDrawn(shown, id);
    expect(await listPaleTexts(shown)).toEqual([]);
    expect(await shown.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
    await shown.context().close();
  });

  test('the keyboard alone reaches every control, each has a name and shows that it is focused', async () => {
    const shown = await open(1400, 'light');
    for (const id of ['thread-figure', 'attention-figure']) await awaitDrawn(shown, id);
    const { count, faults, missed } = await tabThrough(shown);
    expect(count).toBeGreaterThan(60);
    expect(faults).toEqual([]);
    expect(missed).toEqual([]);
    await shown.context().close();
  });

  test('nothing was requested and nothing complained', () => {
    expect(complaints).toEqual([]);
  });
});
