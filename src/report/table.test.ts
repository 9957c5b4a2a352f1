import { expect, test } from 'vitest';
import { NotFiniteError, ValidationError } from '../core/errors.ts';
import type { ArmResult } from '../experiment/result.ts';
import { handmadeResult } from './handmade-result.ts';
import { withFailedBaseline } from './sample-failed-baseline.ts';
import { ladderOrder, ladderTable } from './table.ts';

test('cells are written once: value, interval, difference and corrected p', () => {
  const [worse, base] = ladderTable(handmadeResult()).rows;
  expect(worse?.cells[0]).toEqual({
    metric: 'mrr@10',
    mean: 0.353,
    verdict: 'worse',
    mark: '▼',
    value: '.353',
    interval: '[.33, .38]',
    comparison: {
      difference: '−.143',
      interval: '[−.17, −.12]',
      p: '<.001',
      effectSize: '−.29',
      minimumDetectable: '.031',
      counts: '5/3/2',
    },
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

test('the legend says that one conversation tells nothing of others', () => {
  const result = handmadeResult();
  const queries = result.queries.map((query) => ({ ...query, cluster: 'only' }));
  const [, tested, brackets] = ladderTable({ ...result, queries }).legend;
  expect(tested).toContain('(10,000 samples), over queries, corrected by Holm');
  expect(brackets).toBe(
    'Brackets: 95 % bootstrap intervals (BCa), over queries. 10 queries in one conversation: nothing here says how others would do.',
  );
});

test('the legend says which test was made and how it was corrected', () => {
  const legend = (test: 't' | 'wilcoxon', correction: 'benjamini-hochberg' | 'none') => {
    const result = handmadeResult();
    return ladderTable({ ...result, statistics: { ...result.statistics, test, correction } }).legend[1];
  };
  expect(legend('t', 'none')).toBe(
    'p: paired t test, clustered by conversation, not corrected for the number of arms.',
  );
  expect(legend('wilcoxon', 'benjamini-hochberg')).toBe(
    'p: paired Wilcoxon signed-rank test, clustered by conversation, corrected by Benjamini and Hochberg over the arms.',
  );
});

test('null controls stand below their arm, those of an absent arm last', () => {
  const [first, base, better] = handmadeResult().arms as [ArmResult, ArmResult, ArmResult];
  const control = (name: string, of: string): ArmResult => ({
    ...better,
    name,
    control: { of, kind: 'permuted-order' },
  });
  const arms = [control('stray', 'absent'), control('c1', first.name), first, base, better, control('c2', first.name)];
  expect(ladderOrder(arms).map(({ name }) => name)).toEqual([first.name, 'c1', 'c2', 'bm25', 'cosine', 'stray']);
});

test('what failed, what was stopped, and whose gain is not due to structure is said', () => {
  const survives = (...kinds: string[]) => ({ survives: kinds, controls: {} });
  const structure = { survives: ['a', 'b'], metrics: { 'mrr@10': survives('a'), 'recall@10': survives('a', 'b') } };
  const result = handmadeResult();
  const table = ladderTable({
    ...result,
    arms: result.arms.map((arm) => (arm.name === 'cosine' ? { ...arm, structure } : arm)),
    failures: [{ name: 'broken', description: 'no good', code: 'QUERY', message: 'no such turn: x' }],
    stopped: [
      {
        name: 'slow',
        description: '',
        queries: 17,
        metric: 'mrr@10',
        mean: 0.1,
        difference: { mean: -0.3, low: -0.42, high: -0.2 },
        p: 0.0004,
      },
    ],
  });
  expect(table.absent).toEqual([
    { arm: 'broken', description: 'no good', kind: 'failed', reason: 'QUERY: no such turn: x' },
    {
      arm: 'slow',
      description: '',
      kind: 'stopped',
      reason: 'after 17 queries, mrr@10 .100, −.300 [−.42, −.20] against the best, p <.001',
    },
  ]);
  expect(table.notes).toEqual([
    'not due to structure: the gain of cosine survives a, b (recall@10)',
    'failed: broken, QUERY: no such turn: x',
    'stopped: slow, after 17 queries, mrr@10 .100, −.300 [−.42, −.20] against the best, p <.001',
  ]);
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

test('a p that decides is told from the level', () => {
  const result = handmadeResult();
  const p = (level: number) => {
    const arms = result.arms.map((arm) =>
      arm.comparisons === null
        ? arm
        : {
            ...arm,
            comparisons: { ...arm.comparisons, 'mrr@10': { ...arm.comparisons['mrr@10']!, correctedP: 0.0496 } },
          },
    );
    return ladderTable({ ...result, arms, statistics: { ...result.statistics, level } }).rows[0]?.cells[0]?.comparison
      ?.p;
  };
  expect([p(0.95), p(0.99)]).toEqual(['.0496', '.050']);
});

test('without a baseline that did not fail the arms have their figures and nothing is compared', () => {
  const failed = withFailedBaseline(handmadeResult());
  const table = ladderTable(failed);
  expect(table).toMatchObject({ baseline: 'bm25', compared: false });
  expect(table.rows.map(({ arm, isBaseline }) => [arm, isBaseline])).toEqual([
    ['newest | <first>', false],
    ['cosine', false],
  ]);
  expect(table.rows[0]?.cells[0]).toMatchObject({ value: '.353', mark: '', verdict: 'undecided', comparison: null });
  expect(table.legend[0]).toBe('No arm is compared with the baseline, bm25, which failed.');
  expect(table.legend.some((sentence) => sentence.startsWith('p: '))).toBe(false);
  expect(table.notes).toEqual(['failed: bm25, NOT_FINITE: score is not finite: NaN']);
  expect(ladderTable(handmadeResult()).compared).toBe(true);
});

test('arms and null controls are tested against each other where the baseline failed, and the legend says how', () => {
  const failed = withFailedBaseline(handmadeResult());
  const structure = { survives: [], metrics: {} };
  const { legend } = ladderTable({ ...failed, arms: failed.arms.map((arm) => ({ ...arm, structure })) });
  expect(legend[1]).toMatch(/^p: paired sign-flip permutation test/);
});
