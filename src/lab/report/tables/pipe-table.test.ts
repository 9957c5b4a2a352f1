import { expect, test } from 'vitest';
import { formatComparison, formatDifference } from './pipe-table.ts';

const written = {
  difference: '−.030',
  interval: '[−.05, .00]',
  p: '.013',
  effectSize: '−.21',
  minimumDetectable: '.040',
  counts: '3/5/7',
};

test('without an interval there are no brackets', () => {
  expect(formatDifference({ ...written, interval: '' }, '▼')).toBe('−.030, p .013 ▼');
});

test.each([
  ['▼', '−.030 [−.05, .00], p .013 ▼'],
  ['', '−.030 [−.05, .00], p .013'],
])('a mark stands last, nothing in its place where it is missing: %s', (mark, text) => {
  expect(formatDifference(written, mark)).toBe(text);
});

const comparison = {
  difference: { mean: 0.0341, low: 0.016, high: 0.052 },
  p: 0.011,
  correctedP: 0.0496,
  samples: 10_000,
  unresolved: false,
  effectSize: null,
  minimumDetectable: 0.03,
  wins: 5,
  ties: 7,
  losses: 2,
  clusterWins: 3,
  clusterTies: 0,
  clusterLosses: 1,
  signFlipP: 0.375,
};

test.each([
  ['better', '+.034 [+.02, +.05], p .0496 ▲'],
  ['undecided', '+.034 [+.02, +.05], p .0496'],
  ['worse', '+.034 [+.02, +.05], p .0496 ▼'],
] as const)('the p is the corrected one, with the digits that tell it from what decides: %s', (verdict, text) => {
  expect(formatComparison({ ...comparison, verdict }, 0.95)).toBe(text);
});
