import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { ExperimentResult } from '../../measure/result.ts';
import { formatMetrics } from '../../run/run-folder.ts';
import { type RunFigures, readRunFigures } from '../../stored/run-figures.ts';
import { renderChosenTable, type TableChoice } from './chosen-table.ts';
import { withFailedBaseline } from './failed-baseline.fixture.ts';
import { buildHandmadeResult } from './result.fixture.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-chosen-table-'));
afterAll(() => rmSync(root, { recursive: true }));

/** The figures as a command reads them from a run's folder. */
function storeFigures(result: ExperimentResult): RunFigures {
  writeFileSync(join(root, 'metrics.json'), formatMetrics(result));
  return readRunFigures(root);
}

const figures = storeFigures(buildHandmadeResult());
const choose = (choice: Partial<TableChoice>): TableChoice => ({ arms: null, columns: null, digits: null, ...choice });
const renderRows = (choice: Partial<TableChoice>, from = figures) =>
  renderChosenTable(from, choose(choice), 'markdown').split('\n\n')[0]?.split('\n');

test('a stored comparison is read with all of its figures', () => {
  for (const { name, comparisons } of buildHandmadeResult().arms)
    expect(figures.arms.find((arm) => arm.name === name)?.comparisons).toEqual(comparisons);
});

describe('Markdown', () => {
  test('chosen arms in their order, with marks, and a dash where the baseline has no comparison', () => {
    const columns = ['mrr@10', 'interval', 'difference', 'difference-interval', 'p', 'recall@10.p', 'unjudged'];
    expect(renderRows({ arms: 'cosine,bm25', columns })).toEqual([
      '| arm             | mrr@10 | mrr@10 interval | mrr@10 difference | mrr@10 difference interval | mrr@10 p | recall@10 p | unjudged |',
      '| --------------- | ------ | --------------- | ----------------- | -------------------------- | -------- | ----------- | -------- |',
      '| cosine          | 1.000  | [.980, 1.000]   | +.504             | [+.480, +.530]             | .051     | .049        | 0        |',
      '| bm25 (baseline) | .496   | [.470, .522]    | —                 | —                          | —        | —           | 5        |',
    ]);
  });

  test('a digit, and bare headings where there is one metric', () => {
    const columns = ['R@10', 'p', 'effect-size', 'minimum-detectable', 'wins/ties/losses'];
    expect(renderRows({ arms: 'newest | <first>, cosine', columns, digits: 1 })).toEqual([
      '| arm                 | recall@10 | p     | effect size | minimum detectable | wins/ties/losses |',
      '| ------------------- | --------- | ----- | ----------- | ------------------ | ---------------- |',
      '| newest \\| \\<first\\> | .1        | 1.000 | .0          | .0                 | 5/3/2            |',
      '| cosine              | .2 ▲      | .049  | +.2         | .0                 | 5/3/2            |',
    ]);
  });

  test('without a choice: mean and interval of every metric, all arms, failures below', () => {
    const failures = [{ name: 'broken', description: '', code: 'QUERY', message: 'no turn' }];
    const text = renderChosenTable(storeFigures({ ...buildHandmadeResult(), failures }), choose({}), 'markdown');
    expect(text).toMatch(/^\| arm +\| mrr@10 \| mrr@10 interval \| recall@10 \| recall@10 interval \|\n/);
    expect(text.match(/^\| /gm)).toHaveLength(5);
    expect(text).toMatch(/corrected by Holm over the arms\.[\s\S]*\nfailed: broken, QUERY: no turn\n$/);
  });

  test('a part of the arms has the corrections of the run, and says so', () => {
    expect(renderChosenTable(figures, choose({ arms: 'cosine' }), 'markdown')).toContain(
      'corrected by Holm over the 2 other arms of the run.',
    );
  });

  test('a name with commas is found among others', () => {
    const [first, ...others] = buildHandmadeResult().arms;
    const result = {
      ...buildHandmadeResult(),
      arms: [{ ...first, name: 'a, b' } as (typeof others)[number], ...others],
    };
    expect(renderRows({ arms: 'cosine, a, b,bm25', columns: ['mrr@10'] }, storeFigures(result))?.slice(2)).toEqual([
      '| cosine          | 1.000  |',
      '| a, b            | .353 ▼ |',
      '| bm25 (baseline) | .496   |',
    ]);
  });

  test('several seeds: the deviation beside the mean', () => {
    const arms = buildHandmadeResult().arms.map((arm) => ({
      ...arm,
      seeds: { count: 3, deviations: { 'mrr@10': 0.0123, 'recall@10': 0.02 } },
    }));
    const seeded = storeFigures({ ...buildHandmadeResult(), arms });
    expect(renderRows({ arms: 'bm25', columns: ['mrr@10'], digits: 2 }, seeded)?.at(-1)).toBe(
      '| bm25 (baseline) | .50 ± .01 |',
    );
  });
});

describe('LaTeX', () => {
  test('statistics below their metric, marks, escapes', () => {
    const columns = ['mrr@10', 'p', 'wins/ties/losses', 'recall@10', 'unjudged'];
    const text = renderChosenTable(figures, choose({ arms: 'newest | <first>,bm25', columns }), 'latex');
    expect(text.split('\n').slice(5, 15)).toEqual([
      '\\begin{tabular}{lrrrrr}',
      '\\toprule',
      ' & \\multicolumn{3}{c}{mrr@10} & \\multicolumn{1}{c}{recall@10} &  \\\\',
      '\\cmidrule(lr){2-4} \\cmidrule(lr){5-5}',
      'arm & mean & p & wins/ties/losses & mean & unjudged \\\\',
      '\\midrule',
      'newest \\textbar{} \\textless{}first\\textgreater{} & .353$^{\\downarrow}$ & \\textless{}.001 & 5/3/2 & .099 & 17 \\\\',
      '\\emph{bm25} & .496 & --- & --- & .100 & 5 \\\\',
      '\\bottomrule',
      '\\end{tabular}',
    ]);
  });

  test('means alone have one row of headings', () => {
    const text = renderChosenTable(figures, choose({ columns: ['recall@10', 'mrr@10'] }), 'latex');
    expect(text).toContain('\\toprule\narm & recall@10 & mrr@10 \\\\\n\\midrule\n');
  });
});

describe('CSV', () => {
  const columns = ['mrr@10', 'interval', 'difference', 'p', 'wins/ties/losses'];

  test('numbers with all digits, nothing where there is no comparison', () => {
    expect(renderChosenTable(figures, choose({ arms: 'bm25,newest | <first>', columns }), 'csv')).toBe(
      'arm,mrr@10,mrr@10.low,mrr@10.high,mrr@10.difference,mrr@10.p,mrr@10.wins,mrr@10.ties,mrr@10.losses\n' +
        'bm25,0.496,0.47,0.522,,,,,\n' +
        'newest | <first>,0.353,0.331,0.376,-0.143,0.0004,5,3,2\n',
    );
  });

  test('or those that are asked for', () => {
    const text = renderChosenTable(figures, choose({ arms: 'cosine', columns: ['recall@10', 'p'], digits: 2 }), 'csv');
    expect(text).toBe('arm,recall@10,recall@10.p\ncosine,0.2,0.05\n');
  });
});

describe('what a run does not have is an error with the nearest name', () => {
  test.each([
    [{ arms: 'bm25,cosin' }, 'unknown arm: cosin; use cosine'],
    [{ columns: ['mrr@10', 'pp'] }, 'unknown column: pp; use p'],
    [{ columns: ['mrr@1'] }, 'unknown column: mrr@1; use mrr@10'],
    [{ columns: ['mrr@10.mean'] }, 'unknown column: mrr@10.mean; use mrr@10'],
    [{ columns: ['p'] }, 'column has no metric before it: p; name a metric first, or write mrr@10.p'],
  ])('%o', (choice, message) => {
    expect(() => renderChosenTable(figures, choose(choice), 'markdown')).toThrow(message);
  });

  test('an arm that failed', () => {
    const failed = storeFigures(withFailedBaseline(buildHandmadeResult()));
    expect(() => renderChosenTable(failed, choose({ arms: 'cosine,bm25' }), 'csv')).toThrow(
      /^arm has no figures: bm25 \(.+\); leave it out of --arms$/,
    );
    expect(renderChosenTable(failed, choose({}), 'latex')).toContain('No arm is compared with the baseline, bm25');
  });

  test('a folder of something else', () => {
    writeFileSync(join(root, 'metrics.json'), '{}');
    expect(() => readRunFigures(root)).toThrow(
      /^not the metrics of a run or a training of this version: .*metrics\.json; name the folder/,
    );
  });
});
