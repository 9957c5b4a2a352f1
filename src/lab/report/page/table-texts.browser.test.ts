import { expect, test } from 'vitest';
import { renderHtml } from './html.ts';
import { describeInBrowser } from './in-browser.harness.ts';
import { inventResult } from './invented-result.fixture.ts';
import { listOverlappingTexts } from './overlap.harness.ts';
import { withOneMetricMore, withSeeds } from './repeated-result.fixture.ts';
import { openSamplePage } from './sample-page.harness.ts';

const result = inventResult(17, { arms: 5, threads: 19, turnsAThread: 7, top: 7 });
const RESULTS = {
  'of one seed': result,
  'of several seeds': withSeeds(result),
  'of one seed, with many metrics': withOneMetricMore(result),
  'of several seeds, with many metrics': withOneMetricMore(withSeeds(result)),
};

describeInBrowser('no two texts of a table overlap, effect sizes shown', ({ browser, write }) => {
  const cases = Object.entries(RESULTS).flatMap(([name, shown]) =>
    [1400, 420].map((width) => [name, width, shown] as const),
  );
  test.each(cases)('a run %s, %i px wide', async (_, width, shown) => {
    const file = write(renderHtml(shown));
    const page = await openSamplePage(browser(), file, { width, colorScheme: 'light' }, []);
    for (const box of await page.locator('.with-effects').all()) await box.check();
    expect(await page.locator('table.ladder td.metric').count()).toBe(shown.arms.length * shown.metrics.length);
    expect(await listOverlappingTexts(page)).toEqual([]);
    await page.context().close();
  });
});
