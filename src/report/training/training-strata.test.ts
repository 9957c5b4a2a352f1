import { expect, test } from 'vitest';
import type { StratumValue } from '../../experiment/measure/result.ts';
import type { MethodResult, ModelResult } from '../../training/training-result.ts';
import { sampleTraining } from './invented-training.fixture.ts';
import { trainingStrata } from './training-strata.ts';

const sample = sampleTraining(7, { signals: 5, folds: 3, epochs: 5, queries: 29, second: false });
const [model] = sample.models as [ModelResult];
const strata = [{ name: 'kind', description: 'of question', levels: [{ name: 'multi-hop', queries: [1, 4, 7] }] }];

function methodWith(name: string, value: StratumValue): MethodResult {
  return { ...(model.methods[0] as MethodResult), name, strata: { kind: { 'multi-hop': { 'recall@10': value } } } };
}

const base = methodWith('hand-tuned', { mean: 0.5, difference: null, p: null, correctedP: null });
const learnedWith = (correctedP: number | null, mean = 0.25) =>
  methodWith('learned', { mean: 0.75, difference: { mean, low: mean - 0.1, high: mean + 0.1 }, p: 0.01, correctedP });
const cellsOf = (learned: MethodResult) => {
  const result = { ...sample, metrics: ['recall@10'], strata };
  const { text } = trainingStrata(result, { ...model, methods: [base, learned] });
  return [...text.matchAll(/<td[^>]*>([^<]*)<\/td>/g)].map(([, cell]) => cell);
};

test('a level has its queries, the difference of the last method, and the mean of each', () => {
  expect(cellsOf(learnedWith(0.04))).toEqual([
    'kind',
    'multi-hop',
    '3',
    '+.250 [+.15, +.35], p .040',
    '.500',
    '.750 ▲',
  ]);
});

test.each([
  ['undecided', 0.2, 0.25, '.750'],
  ['without a test', null, 0.25, '.750'],
  ['worse', 0.01, -0.25, '.750 ▼'],
])('a mark says what the corrected p decides: %s', (_, p, mean, cell) => {
  expect(cellsOf(learnedWith(p, mean)).at(-1)).toBe(cell);
});
