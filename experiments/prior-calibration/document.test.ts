import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

test.each([
  ['docs/findings.md', '## 7. '],
  ['docs/priors.md', '### Calibration'],
])('the figures in %s are those of the published experiment', (page, heading) => {
  const [, section = ''] = read(page).split(heading);
  const figures = [...(section.split('\n## ')[0] as string).matchAll(/(?<!\d)[−+]?\.\d{3,4}\b/g)].map(
    ([figure]) => figure,
  );
  const table = read('results/prior-calibration/table.md');
  expect(figures.filter((figure) => !table.includes(figure))).toEqual([]);
  expect(figures.length).toBeGreaterThan(19);
});

test('the page of the experiment shows the published table', () => {
  const page = read('experiments/prior-calibration/README.md');
  expect(page).toContain(read('results/prior-calibration/table.md').trim());
});
