import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

test.each([
  ['experiments/outcome-learning/README.md', '## What it says', 15],
  ['docs/priors.md', '## How an outcome reaches a ranking', 1],
])('the figures of %s are published', (page, heading, least) => {
  const section = read(page).split(heading)[1]?.split('\n## ')[0] ?? '';
  const figures = section.match(/(?<!\d)[−+]?\.\d{3}\b/g) ?? [];
  const table = read('results/outcome-learning/table.md');
  expect(figures.filter((figure) => !table.includes(figure))).toEqual([]);
  expect(figures.length).toBeGreaterThanOrEqual(least);
});
