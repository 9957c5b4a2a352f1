import { expect, test } from 'vitest';
import type { StratumValue } from '../../measure/result.ts';
import type { MethodResult, ModelResult } from '../../training/training-result.ts';
import { inventTraining } from './invented-training.fixture.ts';
import { renderTrainingStrata } from './training-strata.ts';

const sample = inventTraining(7, { signals: 5, folds: 3, epochs: 5, queries: 29, second: false });
const [model] = sample.models as [ModelResult];
const strata = [{ name: 'kind', description: 'of question', levels: [{ name: 'multi-hop', queries: [1, 4, 7] }] }];

function buildMethodWith(name: string, value: StratumValue): MethodResult {
  return { ...(model.methods[0] as MethodResult), name, strata: { kind: { 'multi-hop': { 'recall@10': value } } } };
}

const base = buildMethodWith('hand-tuned', { mean: 0.5, difference: null, p: null, correctedP: null });
const buildLearnedMethod = (correctedP: number | null, mean = 0.25) =>
  buildMethodWith('learned', {
    mean: 0.75,
    difference: { mean, low: mean - 0.1, high: mean + 0.1 },
    p: 0.01,
    correctedP,
  });
const renderStrataCells = (learned: MethodResult) => {
  const result = { ...sample, metrics: ['recall@10'], strata };
  const { text } = renderTrainingStrata(result, { ...model, methods: [base, learned] });
  return [...text.matchAll(/<td[^>]*>([^<]*)<\/td>/g)].map(([, cell]) => cell);
};

test('a level has its queries, the difference of the last method, and the mean of each', () => {
  expect(renderStrataCells(buildLearnedMethod(0.04))).toEqual([
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
  expect(renderStrataCells(buildLearnedMethod(p, mean)).at(-1)).toBe(cell);
});
