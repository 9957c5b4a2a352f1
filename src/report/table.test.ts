import { expect, test } from 'vitest';
import { NotFiniteError, ValidationError } from '../core/errors.ts';
import type { ArmResult } from '../experiment/result.ts';
import { handmadeResult } from './handmade-result.ts';
import { ladderTable } from './table.ts';

test('cells are written once: value, interval, difference and corrected p', () => {
  const [worse, base] = ladderTable(handmadeResult()).rows;
  expect(worse?.cells[0]).toEqual({
    metric: 'mrr@10',
    mean: 0.353,
    verdict: 'worse',
    mark: '▼',
    value: '.353',
    interval: '[.33, .38]',
    comparison: { difference: '−.143', interval: '[−.17, −.12]', p: '<.001' },
  });
  expect(base).toMatchObject({ arm: 'bm25', isBaseline: true, holes: 5 });
  expect(base?.cells.map((cell) => [cell.mark, cell.comparison])).toEqual([
    ['', null],
    ['', null],
  ]);
});

test('a mark follows the verdict and nothing else', () => {
  const marks = ladderTable(handmadeResult()).rows.map((row) => row.cells.map((cell) => cell.mark));
  expect(marks).toEqual([
    ['▼', ''],
    ['', ''],
    ['', '▲'],
  ]);
});

test('the legend names baseline, test, correction and counts', () => {
  const legend = ladderTable(handmadeResult()).legend.join(' ');
  expect(legend).toContain('worse than bm25');
  expect(legend).toContain('sign-flip permutation test (10,000 samples), clustered by conversation, corrected by Holm');
  expect(legend).toContain('10 queries in 5 conversations');
});

const changed = (change: Partial<ArmResult>) => {
  const result = handmadeResult();
  return { ...result, arms: result.arms.map((arm, at) => (at === 2 ? { ...arm, ...change } : arm)) };
};

test('a result whose parts do not fit together is refused', () => {
  const broken = (act: () => unknown) => {
    try {
      act();
    } catch (error) {
      return error;
    }
    return undefined;
  };
  const faults = [
    [
      () => ladderTable({ ...handmadeResult(), baseline: 'absent' }),
      ValidationError,
      'baseline is not among the arms: absent',
    ],
    [() => ladderTable(changed({ metrics: {} })), ValidationError, 'arm cosine has no metric: mrr@10'],
    [
      () => ladderTable(changed({ comparisons: null })),
      ValidationError,
      'arm cosine has no comparison with the baseline in: mrr@10',
    ],
    [
      () => ladderTable(changed({ metrics: { 'mrr@10': { mean: Number.NaN, low: 0, high: 0 } } })),
      NotFiniteError,
      'interval is not finite at arm cosine, mrr@10: NaN',
    ],
  ] as const;
  for (const [act, type, message] of faults) {
    const error = broken(act);
    expect(error).toBeInstanceOf(type);
    expect((error as Error).message).toBe(message);
  }
});
