import { beforeAll, expect, test } from 'vitest';
import { useBackend } from '../../src/core/tensors/backend.ts';
import { drawHandmadeTable } from '../../src/rank/learning/feature-table.fixture.ts';
import { selectQueries } from '../../src/rank/learning/feature-table.ts';
import { createTableMetric } from '../../src/rank/learning/fit-options.ts';
import { mergeTables } from './merged-table.ts';

beforeAll(() => useBackend('wasm'));

const drawTable = (candidates: number, signals: readonly string[], seed: number) =>
  drawHandmadeTable({ queries: 12, candidates, clusters: 3, signals, weights: signals.map(() => 1), noise: 0.1, seed });

test('merged tables keep every value, judgement and metric of the signals that they share', () => {
  const [narrow, wide] = [drawTable(5, ['a', 'b', 'c'], 1), drawTable(9, ['c', 'a'], 2)];
  const merged = mergeTables([narrow, wide], ['a', 'c']);
  expect(merged).toMatchObject({ width: 9, signals: ['a', 'c'], relevantGrade: 1 });
  expect(merged.queryIds).toEqual([...narrow.queryIds, ...wide.queryIds]);
  for (const [table, first] of [
    [narrow, 0],
    [wide, 12],
  ] as const) {
    const own = selectQueries(
      merged,
      Array.from({ length: 12 }, (_, i) => first + i),
    );
    for (const id of ['mrr@5', 'recall@3']) {
      // By the second signal of the merged table, which is the third and the first of the others.
      const column = table.signals.indexOf('c');
      const [there, here] = [table, own].map((of, i) =>
        createTableMetric(of, id).values(
          Float32Array.from(
            of.mask,
            (_, pair) => of.values[pair * of.signals.length + (i === 0 ? column : 1)] as number,
          ),
        ),
      );
      expect(here).toEqual(there);
    }
    expect(own.mask.reduce((sum, bit) => sum + bit, 0)).toBe(table.mask.reduce((sum, bit) => sum + bit, 0));
  }
});

test('a signal that a table lacks is named', () => {
  expect(() => mergeTables([drawTable(4, ['a'], 1), drawTable(4, ['b'], 1)], ['a'])).toThrow('unknown signal: a');
});
