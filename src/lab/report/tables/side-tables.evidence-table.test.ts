import { expect, test } from 'vitest';
import { inventSweep } from '../page/invented-sweep.fixture.ts';
import { renderMarkdown } from './markdown.ts';
import { listEvidenceRows } from './side-tables.ts';

const result = inventSweep(31, { levels: [2, 2, 1], threads: 5, turnsAThread: 4, top: 3 });
const [first, second, ...others] = result.arms as [(typeof result.arms)[number], ...typeof result.arms];
const estimate = (mean: number) => ({ mean, low: mean - 0.1, high: mean + 0.1 });
const evidence = {
  budgets: [250, 2000],
  recall: [estimate(0.5), estimate(0.75)],
  ceiling: [estimate(0.8), estimate(0.9)],
  area: { mean: 0.625, low: null, high: null },
  ceilingArea: estimate(0.85),
};
const { evidence: _, ...without } = first;
const arms = [without, { ...(second as typeof first), evidence }];

test('a row an arm with a curve, a column a budget, then the areas', () => {
  expect(listEvidenceRows(arms)).toEqual([
    ['evidence within', '250', '2000', 'area', 'ceiling'],
    [second?.name, '.500 [.40, .60]', '.750 [.65, .85]', '.625', '.850'],
  ]);
});

test('the Markdown table has the curves, where there are any', () => {
  const text = renderMarkdown({ ...result, arms: [...arms, ...others] });
  expect(text).toMatch(/\n\| evidence within +\| 250 +\| 2000 /);
  expect(text).toContain(' | .500 [.40, .60] | ');
  const bare = result.arms.map(({ evidence: _, ...arm }) => arm);
  expect(renderMarkdown({ ...result, arms: bare })).not.toContain('evidence within');
});
