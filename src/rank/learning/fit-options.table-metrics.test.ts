import fc from 'fast-check';
import { expect, test } from 'vitest';
import { evaluate } from '../../eval/metrics/evaluate.ts';
import type { FeatureTable } from './feature-table.ts';
import { createTableMetric } from './fit-options.ts';

const [Q, C] = [3, 13];

function buildGradedTable(grades: number[], mask: number[], missed: number[][]): FeatureTable {
  return {
    signals: [],
    queryIds: Array.from({ length: Q }, (_, q) => `q${q}`),
    clusters: Array.from({ length: Q }, (_, q) => `c${q}`),
    width: C,
    values: new Float32Array(),
    mask: Uint8Array.from(mask),
    grades: Float32Array.from(grades, (grade, pair) => grade * mask[pair]!),
    missed: Int32Array.from(missed, ({ length }) => length),
    missedGrades: Float32Array.from(missed.flat()),
    relevantGrade: 2,
  };
}

const list = <T>(item: fc.Arbitrary<T>) => fc.array(item, { minLength: Q * C, maxLength: Q * C });

test('agrees with the metrics of whole runs, ties and missed turns included', () => {
  const property = fc.property(
    list(fc.integer({ min: 0, max: 3 })),
    list(fc.integer({ min: 0, max: 1 })),
    list(fc.integer({ min: -2, max: 2 })),
    fc.array(fc.array(fc.integer({ min: 1, max: 3 }), { maxLength: 3 }), { minLength: Q, maxLength: Q }),
    (grades, mask, scores, missed) => {
      const table = buildGradedTable(grades, mask, missed);
      // Ids fall with the place, so that the tie rule takes the earlier place first.
      const formatPairId = (pair: number) => String(999 - (pair % C));
      const run = new Map(
        table.queryIds.map((id, q) => [
          id,
          listPairIndexes(q)
            .filter((pair) => mask[pair] === 1)
            .map((pair) => ({ id: formatPairId(pair), score: scores[pair]! })),
        ]),
      );
      const qrels = new Map(
        table.queryIds.map((id, q) => [
          id,
          new Map([
            ...listPairIndexes(q)
              .filter((pair) => mask[pair] === 1)
              .map((pair) => [formatPairId(pair), grades[pair]!] as const),
            ...missed[q]!.map((grade, i) => [`missed${i}`, grade] as const),
          ]),
        ]),
      );
      const ids = ['ndcg@10', 'mrr@10', 'recall@3'];
      const expected = evaluate(run, qrels, ids, { relevantGrade: 2, unanswerable: 'count', holeDepth: 10 });
      for (const id of ids) {
        const values = createTableMetric(table, id).values(scores);
        for (const [i, queryId] of expected.queryIds.entries())
          expect(values[table.queryIds.indexOf(queryId)], `${id} of ${queryId}`).toBeCloseTo(
            expected.values[id]![i]!,
            12,
          );
      }
    },
  );
  fc.assert(property);
});

function listPairIndexes(query: number): number[] {
  return Array.from({ length: C }, (_, place) => query * C + place);
}

const table = buildGradedTable(new Array(Q * C).fill(2), new Array(Q * C).fill(1), [[], [], []]);

test('the mean is over the queries', () => {
  const two = buildGradedTable([...new Array(C).fill(2), ...new Array(2 * C).fill(0)], new Array(Q * C).fill(1), [
    [],
    [],
    [],
  ]);
  expect(createTableMetric(two, 'mrr@10').mean(new Float32Array(Q * C))).toBeCloseTo(1 / 3, 12);
});

test('what is no score is named, but not at padding', () => {
  const scores = new Float32Array(Q * C).fill(1);
  scores[C + 2] = Number.NaN;
  expect(() => createTableMetric(table).values(scores)).toThrow('score is not finite at query q1, candidate 2: NaN');
  const padded = { ...table, mask: table.mask.with(C + 2, 0) };
  expect(createTableMetric(padded).mean(scores)).toBe(1);
});

test('another number of scores and metrics without a cutoff are refused', () => {
  expect(() => createTableMetric(table).values([1])).toThrow('scores of the feature table: expected 39, got 1');
  expect(() => createTableMetric(table, 'map')).toThrow(
    'metric of a feature table has no cutoff: map; use one, such as ndcg@10',
  );
});
