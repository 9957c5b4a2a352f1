import { expect, test } from 'vitest';
import { inventResult } from '../page/invented-result.fixture.ts';
import { withFailedBaseline } from './failed-baseline.fixture.ts';
import { buildHandmadeResult } from './result.fixture.ts';
import { renderText } from './text-table.ts';

test('columns are aligned, marks follow the interval', () => {
  expect(renderText(buildHandmadeResult())).toBe(
    [
      'arm               mrr@10                   Δ      p  recall@10',
      '─'.repeat(70),
      'newest | <first>   .353 [.33, .38]  ▼  −.143  <.001  .099 [.00, .20]',
      'bm25               .496 [.47, .52]         —      —  .100 [.08, .11]',
      'cosine            1.000 [.98, 1.00]    +.504   .051  .200 [.15, .24] ▲',
      '',
      'On mrr@10, newest | <first> is worse than bm25.',
      'cosine cannot be distinguished from bm25: the difference on mrr@10 is .504, and .031 the smallest that 5 conversations',
      'detect without a correction.',
      'Other metrics: cosine is better on recall@10.',
      '',
      '▲ better, ▼ worse than bm25, said only where the corrected p is below .05; no mark: undecided.',
      'p: paired sign-flip permutation test (10,000 samples), clustered by conversation, corrected by Holm over the arms.',
      'Where .05 is within the Monte Carlo error of p, more samples are drawn, up to 1,000,000.',
      'Brackets: 95 % cluster-robust t intervals (fewer than 20 conversations). 10 queries in 5 conversations.',
      'Intervals of few conversations cover less than 95 % where their sizes are skewed: .88 to .91 for .95.',
      '',
    ].join('\n'),
  );
});

test('a ladder of thirteen arms and four metrics fits into 120 columns in one block', () => {
  const lines = renderText(inventResult(5, { arms: 13, threads: 11, turnsAThread: 7, top: 10 })).split('\n');
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(120);
  expect(lines.filter((line) => line.startsWith('bm25 '))).toHaveLength(1);
});

test('what does not fit follows in a further block under the same arms', () => {
  const lines = renderText(inventResult(5, { arms: 13, threads: 11, turnsAThread: 7, top: 10 }), 80).split('\n');
  const table = lines.slice(
    0,
    lines.findIndex((line) => line.startsWith('On ')),
  );
  expect(Math.max(...table.map((line) => line.length))).toBeLessThanOrEqual(80);
  expect(table.filter((line) => line.startsWith('arm ')).map((line) => line.split(/\s+/))).toEqual([
    ['arm', 'mrr@10', 'Δ', 'p', 'recall@10'],
    ['arm', 'ndcg@10', 'recall@1'],
  ]);
});

test('without its baseline a ladder has no columns of differences', () => {
  const lines = renderText(withFailedBaseline(buildHandmadeResult())).split('\n');
  expect([lines[0], ...lines.slice(2, 4)]).toEqual([
    'arm               mrr@10               recall@10',
    'newest | <first>   .353 [.33, .38]     .099 [.00, .20]',
    'cosine            1.000 [.98, 1.00]    .200 [.15, .24]',
  ]);
  expect(lines).toContain('failed: bm25, NOT_FINITE: score is not finite: NaN');
});
