import fc from 'fast-check';
import { expect, test } from 'vitest';
import { groupIntoClusters } from '../../eval/intervals/mean-intervals.ts';
import { computeCurveArea, measureEvidenceCurve } from './evidence-curve.ts';

const TOKENS: Readonly<Record<string, number>> = { a: 30, b: 50, c: 20, d: 90, e: 10 };
const inputs = {
  relevantGrade: 1,
  unanswerable: 'apart',
  countTokens: (id: string) => TOKENS[id] as number,
} as const;
const statistics = { samples: 199, level: 0.95, seed: 1 };
const rank = (ids: string) => [...ids].map((id, i) => ({ id, score: -i }));
const readMeans = (estimates: readonly { readonly mean: number }[]) => estimates.map(({ mean }) => mean);

test('a curve is the evidence of the turns that fit, its ceiling that of the evidence packed first', () => {
  const run = new Map([
    ['q1', rank('abcd')],
    ['q2', rank('dce')],
    ['q3', rank('ea')],
  ]);
  const qrels = new Map([
    [
      'q1',
      new Map([
        ['b', 1],
        ['c', 2],
        ['e', 1],
      ]),
    ], // e is not ranked
    [
      'q2',
      new Map([
        ['d', 1],
        ['e', 1],
      ]),
    ],
    [
      'q3',
      new Map([
        ['a', 1],
        ['d', 0],
      ]),
    ],
  ]);
  const curve = measureEvidenceCurve(
    run,
    { ...inputs, qrels },
    [25, 50, 100, 400],
    groupIntoClusters(['x', 'y', 'z']),
    statistics,
  );
  // Tokens down to each turn: q1 a 30, b 80, c 100; q2 d 90, c 110, e 120; q3 e 10, a 40.
  const recall = [
    [0, 0, 2 / 3, 2 / 3],
    [0, 0, 1 / 2, 1],
    [0, 1, 1, 1],
  ];
  // Packed: q1 c 20, b 70; q2 e 10, d 100; q3 a 30.
  const ceiling = [
    [1 / 3, 1 / 3, 2 / 3, 2 / 3],
    [1 / 2, 1 / 2, 1, 1],
    [0, 1, 1, 1],
  ];
  const average = (rows: readonly (readonly number[])[]) =>
    rows[0]!.map((_, k) => rows.reduce((sum, row) => sum + row[k]!, 0) / rows.length);
  for (const [k, mean] of readMeans(curve.recall).entries()) expect(mean).toBeCloseTo(average(recall)[k]!, 12);
  for (const [k, mean] of readMeans(curve.ceiling).entries()) expect(mean).toBeCloseTo(average(ceiling)[k]!, 12);
  // Doublings weigh the same: 25 to 50, 50 to 100, and two of them from 100 to 400.
  const areaOf = ([p, q, r, s]: readonly number[]) => ((p! + q!) / 2 + (q! + r!) / 2 + r! + s!) / 4;
  expect(curve.area.mean).toBeCloseTo(areaOf(average(recall)), 12);
  expect(curve.ceilingArea.mean).toBeCloseTo(areaOf(average(ceiling)), 12);
  expect(curve.area.low).not.toBeNull();
});

test('a query without a ranking has no evidence, one without a relevant turn is left out', () => {
  const qrels = new Map([
    ['q1', new Map([['a', 1]])],
    ['q2', new Map([['a', 1]])],
    ['q3', new Map([['a', 0]])],
  ]);
  const clusters = groupIntoClusters(['x', 'y']);
  const curve = measureEvidenceCurve(
    new Map([['q1', rank('a')]]),
    { ...inputs, qrels },
    [30, 40],
    clusters,
    statistics,
  );
  expect(readMeans(curve.recall)).toEqual([0.5, 0.5]);
  expect(curve.area).toEqual({ mean: 0.5, low: null, high: null });
});

test('the area of a curve is between its lowest and highest value', () => {
  const steps = fc.array(fc.tuple(fc.integer({ min: 1, max: 999 }), fc.double({ min: 0, max: 1, noNaN: true })), {
    minLength: 2,
    maxLength: 7,
  });
  fc.assert(
    fc.property(steps, (drawn) => {
      let budget = 0;
      const budgets = drawn.map(([step]) => (budget += step));
      const values = drawn.map(([, value]) => value);
      const area = computeCurveArea(budgets, values);
      expect(area).toBeGreaterThanOrEqual(Math.min(...values) - 1e-12);
      expect(area).toBeLessThanOrEqual(Math.max(...values) + 1e-12);
    }),
  );
  expect(computeCurveArea([10, 20, 80], [0, 0.6, 0.6])).toBeCloseTo((0.3 + 2 * 0.6) / 3, 12);
});
