import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listPaleTexts } from './contrast.harness.ts';
import { renderHtml } from './html.ts';
import { inventFitted } from './invented-fit.fixture.ts';
import { tabThrough } from './keyboard.harness.ts';
import { awaitDrawn, listWideTables, openSamplePage } from './sample-page.harness.ts';

const executable = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';
const missing = !existsSync(executable);
if (missing) console.warn(`skipped: a training's page in a browser, no Chromium (set CHROMIUM_PATH): ${executable}`);

const SIZE = { signals: 149, folds: 7, epochs: 23, queries: 211, transfer: true };
const result = inventFitted(17, SIZE);

describe.skipIf(missing)("a training's page in Chromium, offline", () => {
  const folder = mkdtempSync(join(tmpdir(), 'training-page-'));
  const file = join(folder, 'report.html');
  const complaints: string[] = [];
  let browser: Browser;
  let page: Page;

  const open = (width: number, colorScheme: 'light' | 'dark') =>
    openSamplePage(browser, file, { width, colorScheme }, complaints, '#parameters');

  beforeAll(async () => {
    writeFileSync(file, renderHtml(result));
    browser = await chromium.launch({ executablePath: executable, args: ['--no-sandbox'] });
    page = await open(1200, 'light');
  });

  afterAll(async () => {
    await browser.close();
    rmSync(folder, { recursive: true });
  });

  test.each([
    ['opened wide', 1200, () => Promise.resolve(page)],
    ['opened narrow and dark', 420, () => open(420, 'dark')],
  ] as const)('%s, every figure is drawn and the page does not scroll sideways', async (_, width, opened) => {
    const shown = await opened();
    const ids = await shown.locator('.figure:visible').evaluateAll((nodes) => nodes.map(({ id }) => id));
    for (const id of ids) await awaitDrawn(shown, id);
    expect(await shown.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
    const countPoints = (id: string) => shown.locator(`#${id} .scatterlayer .point`).count();
    expect(await countPoints('weights-figure')).toBe(2 * 40);
    expect(await countPoints('importance-figure')).toBe(40);
    expect(await shown.locator('#loss-figure .scatterlayer .js-line').count()).toBe(SIZE.folds + 1);
    expect(await countPoints('calibration-figure')).toBe(9);
    expect(await shown.locator('#calibration-figure .bars .point').count()).toBe(9);
  });

  test('families are drawn by the metric that is chosen', async () => {
    const readFirstLabels = () => page.locator('#importance-figure .ytick text').allTextContents();
    const before = await readFirstLabels();
    await page.selectOption('#importance-metric', { label: 'mrr@10' });
    const findImportantFamily = (metric: string) =>
      result.fit.importance.toSorted(
        (a, b) => (a.comparisons[metric]?.difference.mean ?? 0) - (b.comparisons[metric]?.difference.mean ?? 0),
      )[0]?.family;
    await page.waitForFunction(
      (old) => document.querySelector('#importance-figure .xtick text')?.textContent !== old,
      '',
    );
    expect([
      before.includes(findImportantFamily('recall@10') ?? ''),
      (await readFirstLabels()).includes(findImportantFamily('mrr@10') ?? ''),
    ]).toEqual([true, true]);
  });

  test('epochs are whole numbers, also of a short training', async () => {
    const other = join(folder, 'short.html');
    writeFileSync(other, renderHtml(inventFitted(17, { ...SIZE, epochs: 2 })));
    const colours = { width: 1200, colorScheme: 'light' } as const;
    const short = await openSamplePage(browser, other, colours, complaints, '#parameters');
    for (const shown of [page, short]) {
      await awaitDrawn(shown, 'loss-figure');
      const ticks = await shown.locator('#loss-figure .xtick text').allTextContents();
      expect(ticks.length).toBeGreaterThan(1);
      expect(ticks.filter((tick) => !/^\d+$/.test(tick))).toEqual([]);
    }
  });

  test('every table fits its frame, with effect sizes and all that is folded', async () => {
    const shown = await open(1400, 'light');
    expect(await listWideTables(shown)).toEqual([]);
    const lines = await shown
      .locator('.plain td .unbroken')
      .evaluateAll((parts) =>
        parts.map((part) => [part.textContent?.replace(/[\d.,−+ ]/g, ''), part.getClientRects().length]),
      );
    expect(new Set(lines.map(([kind]) => kind))).toEqual(new Set(['[]', 'p']));
    expect(lines.filter(([, count]) => count !== 1)).toEqual([]);
  });

  test('the inspector compares two methods on a query', async () => {
    await page.selectOption('#inspector-left', { label: 'hand-tuned' });
    await page.selectOption('#inspector-right', { label: 'learned' });
    await page.fill('#query-words', result.queries[5]?.id ?? '');
    await page.locator('#query-list button').first().click();
    expect(await page.locator('.query-text').textContent()).toBe(result.queries[5]?.text);
    const columns = page.locator('#rankings .column');
    for (const [at, method] of ['hand-tuned', 'learned'].entries()) {
      const ranking = result.arms.find(({ name }) => name === method)?.rankings[5] ?? [];
      const scores = await columns.nth(at).locator('.score').allTextContents();
      expect(scores.map(Number)).toEqual(ranking.map(({ score }) => expect.closeTo(score, 3)));
    }
    expect(await page.locator('.thread .is-query').count()).toBe(1);
    await expect.poll(() => page.url()).toMatch(/#a=hand-tuned&b=learned/);
    await page.fill('#query-words', '');
  });

  test.each([
    [1400, 'dark'],
    [420, 'light'],
  ] as const)('at %i px and %s, every text has the contrast of AA', async (width, scheme) => {
    const shown = await open(width, scheme);
    for (const id of await shown.locator('.figure:visible').evaluateAll((nodes) => nodes.map((node) => node.id)))
      await awaitDrawn(shown, id);
    expect(await listPaleTexts(shown)).toEqual([]);
    await shown.context().close();
  });

  test('the keyboard alone reaches every control', async () => {
    const shown = await open(1400, 'light');
    const { count, faults, missed } = await tabThrough(shown);
    expect(count).toBeGreaterThan(60);
    expect([...faults, ...missed]).toEqual([]);
    await shown.context().close();
  });

  test('tables sort', async () => {
    const hyper = page.getByLabel('hyper-parameters of linear').locator('table');
    await page.locator('summary', { hasText: 'the hyper-parameters' }).click();
    const heading = hyper.locator('th', { hasText: 'epochs' });
    await heading.locator('button').click();
    const epochs = await hyper.locator('tbody td:last-child').allTextContents();
    expect(epochs.map(Number)).toEqual(epochs.map(Number).toSorted((a, b) => b - a));
    expect(new Set(epochs).size).toBeGreaterThan(2);
  });

  test('nothing was requested and nothing complained', () => {
    expect(complaints).toEqual([]);
  });
});
