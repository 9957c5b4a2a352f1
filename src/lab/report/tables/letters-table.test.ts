import { expect, test } from 'vitest';
import type { StoredPairs } from '../../stored/run-comparison.ts';
import { renderLettersLatex, renderLettersMarkdown, renderLettersText } from './letters-table.ts';

const pair = { difference: 0.1, p: 0.001, correctedP: 0.003, samples: null, unresolved: false };
const compared: StoredPairs = {
  runs: ['ladder_1 abc'],
  arms: ['bm25', '[x] & y', 'both'],
  metrics: ['ndcg@10'],
  pairs: {
    'ndcg@10': {
      means: [0.25, 0.5, 0.4375],
      pairs: [
        { ...pair, first: 0, second: 1, better: 1 },
        { ...pair, first: 0, second: 2, better: 2 },
        { ...pair, first: 1, second: 2, better: null, unresolved: true },
      ],
      beaten: [[], [0], [0]],
      groups: [[1, 2], [0]],
    },
  },
  statistics: { samples: 10_000, level: 0.95, test: 't', correction: 'holm' },
  queries: 40,
  conversations: 20,
  seeds: 1,
  looks: [],
};

test('superscripts name the arms that one is better than, capitals the groups', () => {
  const lines = renderLettersText(compared, 60).split('\n');
  expect(lines.slice(0, 5).map((line) => line.trimEnd())).toEqual([
    '   arm      ndcg@10',
    '──────────────────────',
    'a  bm25     .250     B',
    'b  [x] & y  .500ᵃ    A',
    'c  both     .438ᵃ    A',
  ]);
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(60);
  const legend = lines.slice(6).join(' ');
  expect(legend).toContain('Means over 40 queries in 20 conversations.');
  expect(legend).toContain('corrected by Holm over the 3 pairs of arms of a metric');
  expect(legend).toContain('Monte Carlo error of p: b and c (ndcg@10).');
});

test('the legend names the seeds whose means are tested', () => {
  expect(renderLettersText(compared)).not.toContain('seeds');
  const sentence =
    'Figures of repeated arms are means over 5 seeds. p is of these means, without the variance between seeds';
  for (const render of [renderLettersText, renderLettersMarkdown, renderLettersLatex])
    expect(render({ ...compared, seeds: 5 })).toContain(sentence);
});

test('the legend says which looks at test splits the runs are', () => {
  const looks = [{ dataset: 'threads', number: 3, numberAtQueries: 2, queries: 40 }];
  for (const render of [renderLettersText, renderLettersMarkdown, renderLettersLatex])
    expect(render({ ...compared, looks })).toContain(
      'Look 3 at the test split of threads (40 test queries, look 2 at these queries).',
    );
});

test('Markdown and LaTeX have the same letters, with names escaped', () => {
  expect(renderLettersMarkdown(compared)).toContain('| b   | \\[x\\] \\& y | .500<sup>a</sup> A |');
  const latex = renderLettersLatex(compared);
  expect(latex).toContain('b & {}[x] \\& y & .500$^{\\mathrm{a}}$ & A \\\\');
  expect(latex).toContain('\\caption{ladder\\_1 abc}');
  expect(latex.match(/&/g)?.length).toBe(4 * 3 - 1 + 1);
});

test('labels of more than one letter are separated', () => {
  const many = Array.from({ length: 28 }, (_, i) => i);
  const table = renderLettersMarkdown({
    ...compared,
    arms: many.map((i) => `arm ${i}`),
    pairs: { 'ndcg@10': { means: many, pairs: [], beaten: many.map((i) => (i === 0 ? [1, 27] : [])), groups: [many] } },
  });
  expect(table).toContain('<sup>b, ab</sup> A');
});
