import { expect, test } from 'vitest';
import { buildDatasetsTable, renderDatasetsCsv, renderDatasetsMarkdown, renderDatasetsText } from './datasets-table.ts';
import { buildHandmadeResult } from './result.fixture.ts';

const whole = buildHandmadeResult();
const short = { ...whole, arms: whole.arms.slice(1) };
const table = buildDatasetsTable([
  { dataset: 'mail', result: whole },
  { dataset: 'talks', result: short },
]);
const [first, base] = whole.arms.map(({ name }) => name) as [string, string];

test('an arm has a cell for each dataset, and a mean where it has all of them', () => {
  const rows = table.metrics[0]?.rows ?? [];
  expect(rows.map(({ arm }) => arm)).toEqual(whole.arms.map(({ name }) => name));
  expect(rows[0]).toMatchObject({ arm: first, cells: [{ value: '.353', mark: '▼' }, null], mean: null });
  expect(rows[1]?.mean).toBeCloseTo(whole.arms[1]?.metrics['mrr@10']?.mean as number, 12);
});

test('every rendering has each figure', () => {
  expect(renderDatasetsText(table)).toMatch(/^mrr@10 +mail +talks +mean\n/);
  expect(renderDatasetsText(table)).toMatch(/\.353 ▼ +— +—/);
  expect(renderDatasetsMarkdown(table)).toContain('| newest \\| \\<first\\> ');
  const csv = renderDatasetsCsv(table).split('\n');
  expect(csv[0]).toBe('metric,arm,dataset,mean,verdict');
  expect(csv).toContain(`mrr@10,${first},mail,0.353,worse`);
  expect(csv.filter((line) => line.startsWith(`recall@10,${base},`))).toHaveLength(3);
});

test('figures of several seeds are explained', () => {
  const sentence = 'Each figure is the mean of 3 seeds; ± is the standard deviation';
  expect(renderDatasetsText(table)).not.toContain(sentence);
  const arms = whole.arms.map((arm) => ({ ...arm, seeds: { count: 3, deviations: { 'mrr@10': 0.01 } } }));
  const repeated = buildDatasetsTable([{ dataset: 'mail', result: { ...whole, arms } }]);
  expect(renderDatasetsText(repeated)).toContain(sentence);
});
