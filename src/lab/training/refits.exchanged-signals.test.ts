import { beforeAll, expect, test } from 'vitest';
import { useBackend } from '../../core/tensors/backend.ts';
import { fitPoint } from '../../rank/learning/cross-validation.ts';
import { drawHandmadeTable } from '../../rank/learning/feature-table.fixture.ts';
import { copySignalColumn, type FeatureTable } from '../../rank/learning/feature-table.ts';
import { createTableMetric } from '../../rank/learning/fit-options.ts';
import { createLinearModel } from '../../rank/learning/linear-model.ts';
import { scoreTable } from '../../rank/learning/model.ts';
import { fitStandardisation } from '../../rank/learning/standardisation.ts';
import { exchangeSignals } from './refits.ts';

beforeAll(() => useBackend('cpu'));

const [QUERIES, CANDIDATES] = [13, 17];
const whole = drawHandmadeTable({
  queries: QUERIES,
  candidates: CANDIDATES,
  clusters: 5,
  signals: ['own', 'near', 'far'],
  weights: [1, 1, 1],
  seed: 3,
});
/** The last slots of each row are padding. */
const countRowCandidates = (row: number) => CANDIDATES - (row % 4);
const mask = whole.mask.map((_, pair) =>
  pair % CANDIDATES < countRowCandidates(Math.floor(pair / CANDIDATES)) ? 1 : 0,
);
const values = whole.values.map((value, at) => (mask[Math.floor(at / 3)] === 1 ? value : 0));
const table = { ...whole, mask, values };
const exchanged = exchangeSignals(table, ['near', 'far'], 7);

/** A query's candidates as pairs of two signals. */
function listSignalPairs(of: FeatureTable, row: number): string[] {
  const [near, far] = [copySignalColumn(of, 'near'), copySignalColumn(of, 'far')];
  const places = Array.from({ length: countRowCandidates(row) }, (_, place) => row * CANDIDATES + place);
  return places.map((at) => `${near[at]} ${far[at]}`);
}

test('a query’s candidates have the exchanged signals of each other, together', () => {
  for (let row = 0; row < QUERIES; row++) {
    expect(listSignalPairs(exchanged, row)).not.toEqual(listSignalPairs(table, row));
    expect(listSignalPairs(exchanged, row).toSorted()).toEqual(listSignalPairs(table, row).toSorted());
  }
});

test('other signals, judgements and padding stay as they are', () => {
  expect(copySignalColumn(exchanged, 'own')).toEqual(copySignalColumn(table, 'own'));
  for (const [pair, isThere] of mask.entries())
    if (isThere === 0) expect([...exchanged.values.subarray(3 * pair, 3 * pair + 3)]).toEqual([0, 0, 0]);
  const { values: _, ...others } = exchanged;
  expect(others).toEqual((({ values: _, ...rest }) => rest)(table));
});

test('the seed decides, and the table that is given stays as it is', () => {
  expect(exchangeSignals(table, ['near', 'far'], 7).values).toEqual(exchanged.values);
  expect(exchangeSignals(table, ['near', 'far'], 8).values).not.toEqual(exchanged.values);
  expect(table.values).toEqual(values);
});

test('nothing is learned of a signal that was exchanged', async () => {
  const learnRows = async (rows: FeatureTable) => {
    const standardisation = fitStandardisation(rows, rows.signals);
    const createExchangedModel = () =>
      createLinearModel({ signals: rows.signals, nonNegative: [], initial: {} }, standardisation);
    const point = {
      ...{ loss: { name: 'listwise' as const, temperature: 1 }, learningRate: 0.1, l2: 0, epochs: 31, patience: 31 },
      ...{ batchSize: null, startNoise: 0 },
    };
    const { model, values } = await fitPoint(rows, point, { modelOf: createExchangedModel, seeds: [5] });
    return createTableMetric(rows).mean(await scoreTable(model, values, rows));
  };
  const options = { clusters: 5, signals: ['own', 'near'], weights: [0, 1], seed: 11 };
  const decided = drawHandmadeTable({ queries: 211, candidates: 29, ...options });
  expect(await learnRows(decided)).toBeGreaterThan(0.99);
  // At random: a relevant turn is equally often at each of the 29 places.
  const sumGains = (grades: readonly number[]) => grades.reduce((sum, grade, i) => sum + grade / Math.log2(i + 2), 0);
  const byLot = ((sumGains(Array(10).fill(1)) / 29) * 3) / sumGains([2, 1]);
  expect(Math.abs((await learnRows(exchangeSignals(decided, ['near'], 7))) - byLot)).toBeLessThan(0.06);
});

test('a signal that the table lacks is refused', () => {
  expect(() => exchangeSignals(table, ['nearr'], 7)).toThrow('unknown signal: nearr; use near');
});
