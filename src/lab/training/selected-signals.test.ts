import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { useBackend } from '../../core/tensors/backend.ts';
import { drawHandmadeTable } from '../../rank/learning/feature-table.fixture.ts';
import { createLinearModel, type LinearModel } from '../../rank/learning/linear-model.ts';
import { scoreTable } from '../../rank/learning/model.ts';
import { fitStandardisation } from '../../rank/learning/standardisation.ts';
import { loadConfig } from '../config/config.ts';
import { keepSelected, summariseSelection } from './selected-signals.ts';
import { setFit, writeSampleTraining } from './training-config.fixture.ts';
import { type FinishedTraining, runTraining } from './training-run.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-selected-signals-'));
afterAll(() => rmSync(root, { recursive: true }));
beforeAll(() => useBackend('cpu'));

const signals = ['a', 'b', 'c', 'd'];
const table = drawHandmadeTable({ queries: 11, candidates: 5, clusters: 3, signals, seed: 3 });

test.each(['pool', 'question'] as const)(
  'a model of the selected signals scores as the whole one, %s',
  async (normalise) => {
    const options = { signals, nonNegative: ['b', 'd'], initial: { a: 1, d: 2 }, normalise };
    const whole = createLinearModel(options, fitStandardisation(table, signals));
    const values = Float64Array.of(0, 0, 0, 0.25); // a, c, then b, d
    const { model, keep } = keepSelected(whole, ['d']);
    expect(model.signals).toEqual(['a', 'd']);
    expect(model.config).toMatchObject({ nonNegative: ['d'], initial: { a: 1, d: 2 } });
    expect(keep(values)).toEqual(Float64Array.of(0, 0.25));
    const expected = await scoreTable(whole, values, table);
    for (const [pair, score] of (await scoreTable(model, keep(values), table)).entries())
      expect(score).toBeCloseTo(expected[pair]!, 5);
  },
);

test('a summary counts folds, and means are of the folds that selected a signal', () => {
  const named = ['bm25', 'cosine', 'coverage'];
  const unit = { means: new Float64Array(3), deviations: new Float64Array(3).fill(1) };
  const model = createLinearModel({ signals: named }, unit);
  const bank = { groups: ['text' as const], encoders: [] };
  const outcomes = [
    { values: Float64Array.of(1, 0, 2), path: ['coverage', 'bm25'], without: [-0.25, -0.5], heldOut: 30 },
    { values: Float64Array.of(0, 0.5, 3), path: ['cosine', 'coverage'], without: [0.125, -0.75], heldOut: 10 },
  ];
  const fit = { model, values: Float64Array.of(0, 0, 4), path: ['coverage'] };
  const found = summariseSelection({ signals: bank }, fit, outcomes);
  const summary = expect.stringMatching(/./);
  expect(found).toEqual([
    { signal: 'coverage', summary, folds: 2, meanWeight: 2.5, meanOrder: 1.5, weight: 4, without: -0.375 },
    { signal: 'bm25', summary, folds: 1, meanWeight: 1, meanOrder: 2, weight: null, without: -0.375 },
    { signal: 'cosine', summary, folds: 1, meanWeight: 0.5, meanOrder: 1, weight: null, without: 0.03125 },
  ]);
});

describe('a run that selects signals', () => {
  let finished: FinishedTraining;
  beforeAll(async () => {
    const select = 'mix.fit.select={ method: greedy, size: [2, 1] }';
    const config = loadConfig(writeSampleTraining(root), setFit(select, 'mix.fit.normalise=question'));
    finished = await runTraining(config, { cacheFolder: join(root, 'cache'), backend: 'cpu', command: 'ragpp run x' });
  });

  test('has a weight file of the selected signals and of the start, with a number and bounds for each', () => {
    const { fit } = finished.result;
    const { model, values, provenance } = finished.weights!.get(fit.file)!;
    const kept = fit.selection!.filter(({ weight }) => weight !== null);
    const selected = model.signals.filter((_, f) => values[f] !== 0);
    expect(fit.epochs).toBe(selected.length);
    expect(model.signals).toContain('bm25@share');
    expect(fit.numbers.find(({ label }) => label === 'bm25@share')?.handTuned).toBe(1);
    expect((model as LinearModel).normalise).toBe('question');
    expect(new Set(kept.map(({ signal }) => signal))).toEqual(new Set(selected));
    expect(new Set(kept.map(({ weight }) => weight))).toEqual(new Set(values.filter((value) => value !== 0)));
    expect(fit.numbers.map(({ label }) => label)).toEqual([...model.signals]);
    for (const { interval } of fit.numbers) expect(interval!.low).toBeLessThanOrEqual(interval!.high);
    expect(provenance.seeds).toEqual([3]);
  });

  test('has folds of as many signals as the inner folds chose, and scores whose parts add up', () => {
    const { fit, arms } = finished.result;
    for (const { point, epochs, curve } of fit.folds) {
      expect(point).toEqual({ select: 'greedy', loss: 'listwise', l2: 0.001 });
      expect([1, 2]).toContain(epochs);
      expect(curve).toHaveLength(epochs + 1);
    }
    expect(fit.selection!.reduce((sum, { folds }) => sum + folds, 0)).toBe(
      fit.folds.reduce((sum, { epochs }) => sum + epochs, 0),
    );
    expect(fit.controls.length).toBeGreaterThan(0);
    const learned = arms.find(({ name }) => name === 'learned')!;
    for (const { score, contributions = [] } of learned.rankings.flat())
      expect(contributions.reduce((sum, part) => sum + part, 0)).toBeCloseTo(score, 4);
  });
});
