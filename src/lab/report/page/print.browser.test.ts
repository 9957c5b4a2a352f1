import { pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { renderHtml } from './html.ts';
import { describeInBrowser } from './in-browser.harness.ts';
import { inventFitted } from './invented-fit.fixture.ts';
import { inventResult } from './invented-result.fixture.ts';
import { inventSweep } from './invented-sweep.fixture.ts';
import { withOneMetricMore, withSeeds } from './repeated-result.fixture.ts';

const result = inventResult(17, { arms: 13, threads: 101, turnsAThread: 7, top: 7 });
const PAGES = {
  run: renderHtml(result),
  'run with seeds': renderHtml(withSeeds(result)),
  'run with many metrics': renderHtml(withOneMetricMore(withSeeds(result))),
  sweep: renderHtml(inventSweep(19, { levels: [5, 3, 2], threads: 29, turnsAThread: 7, top: 10 })),
  training: renderHtml(inventFitted(17, { signals: 29, folds: 3, epochs: 5, queries: 31, transfer: true })),
};

/** A4 and Letter without the margins, in pixels. */
const PAPER = { A4: 703, Letter: 725 };

/** Figures that are drawn while the browser has nothing else to do. */
const PATIENT = { timeout: 30_000 };

describeInBrowser('a report on paper', ({ browser, write }) => {
  const open = async (html: string, colorScheme: 'light' | 'dark' = 'light'): Promise<Page> => {
    const file = write(html);
    const page = await browser().newPage({ viewport: { width: 1400, height: 900 }, colorScheme });
    await page.goto(pathToFileURL(file).href);
    return page;
  };

  test.each(Object.entries(PAGES))('of a %s: nothing is cut at the right, no figure is empty', async (_, html) => {
    const page = await open(html);
    await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
    await page.emulateMedia({ media: 'print' });
    for (const [paper, width] of Object.entries(PAPER)) {
      await page.setViewportSize({ width, height: 900 });
      const found = await page.evaluate((room) => {
        const shown = [...document.querySelectorAll('body *')].filter((node) => node.checkVisibility());
        const wide = shown.filter((node) => node.getBoundingClientRect().right > room + 1);
        const figures = shown.filter((node) => node.classList.contains('figure'));
        return {
          wide: wide.map((node) => `${node.tagName}.${node.getAttribute('class')}: ${node.textContent?.slice(0, 30)}`),
          empty: figures.filter((node) => node.querySelector('.main-svg') === null).map(({ id }) => id),
          figures: figures.length,
          controls: shown.filter((node) => node.matches('select, input, #query-list button, nav')).length,
        };
      }, width);
      expect(found, paper).toEqual({ wide: [], empty: [], figures: expect.any(Number), controls: 0 });
      expect(found.figures).toBeGreaterThan(2);
    }
    await page.close();
  });

  test('a file of paper has every figure in the colours of the light scheme, and the screen has its own again', async () => {
    const page = await open(PAGES.run, 'dark');
    await page.waitForSelector('#arms-figure.drawn');
    const read = () =>
      page.locator('#arms-figure').evaluate((node) => ({
        width: node.querySelector('.main-svg')?.getBoundingClientRect().width,
        ink: getComputedStyle(node.querySelector('.xtick text') as Element).fill,
      }));
    const before = await read();
    await page.evaluate(() => {
      addEventListener('beforeprint', () => {
        const text = document.querySelector('#arms-figure .xtick text') as Element;
        const empty = [...document.querySelectorAll('.figure:not(.drawn)')].filter((node) => node.checkVisibility());
        Object.assign(window, { printed: { ink: getComputedStyle(text).fill, empty: empty.length } });
      });
    });
    const file = await page.pdf({ format: 'A4' });
    expect(await page.evaluate(() => (window as { printed?: unknown }).printed)).toEqual({
      ink: 'rgb(28, 27, 25)',
      empty: 0,
    });
    expect(file.toString('latin1').match(/\/Type \/Page\b/g)?.length).toBeLessThan(20);
    await expect.poll(read, PATIENT).toEqual(before);
    expect(before.ink).not.toBe('rgb(28, 27, 25)');
    await page.close();
  });

  test('a picture of the whole page has its figures, without scrolling', async () => {
    const page = await open(PAGES.run);
    await expect.poll(() => page.locator('.figure:visible:not(.drawn)').count(), PATIENT).toBe(0);
    expect(await page.evaluate(() => scrollY)).toBe(0);
    await page.selectOption('#arms-metric', { label: 'recall@1' });
    await expect.poll(() => page.locator('#arms-figure').textContent(), PATIENT).toContain('recall@1');
    await page.close();
  });
});
