import { expect, test } from 'vitest';
import type { ModelResult, TrainingResult } from '../../training/training-result.ts';
import { inventTraining } from './invented-training.fixture.ts';
import {
  buildMethodLadder,
  describeFolds,
  describePool,
  listTransferRows,
  renderTrainingMarkdown,
  renderTrainingText,
  searchSentences,
} from './training-table.ts';

const size = { signals: 11, folds: 7, epochs: 5, queries: 29, second: false };
const result = inventTraining(3, size);
const [model] = result.models as [ModelResult];

/** One metric of two methods, written out. */
function buildTwoMethods(): { result: TrainingResult; model: ModelResult } {
  const [base, , , , learned] = model.methods;
  const comparison = learned?.comparisons?.['recall@10'];
  if (base === undefined || learned === undefined || comparison === undefined) throw new Error('sample has methods');
  const methods = [
    { ...base, metrics: { 'recall@10': { mean: 0.5, low: 0.41, high: 0.62 } } },
    {
      ...learned,
      metrics: { 'recall@10': { mean: 0.75, low: 0.7, high: 0.8 } },
      comparisons: {
        'recall@10': {
          ...comparison,
          difference: { mean: 0.25, low: 0.11, high: 0.29 },
          correctedP: 0.013,
          verdict: 'better' as const,
        },
      },
    },
  ];
  const two = { ...model, methods };
  return { result: { ...result, metrics: ['recall@10'], models: [two] }, model: two };
}

test('methods are rows, compared with the hand-tuned one alone', () => {
  const { rows, legend } = buildMethodLadder(result, model);
  expect(rows.map(({ arm, isBaseline }) => [arm, isBaseline])).toEqual([
    ['hand-tuned', true],
    ['uniform', false],
    ['random search', false],
    ['coordinate ascent', false],
    ['learned', false],
  ]);
  for (const { cells, isBaseline } of rows)
    expect(cells.map(({ comparison }) => comparison === null)).toEqual(result.metrics.map(() => isBaseline));
  expect(legend.at(-2)).toMatch(/29 queries in 7 conversations\.$/);
  expect(legend[1]).toMatch(/corrected by Holm over the methods\.$/);
});

test('for a terminal, the first metric has its difference', () => {
  const lines = renderTrainingText(buildTwoMethods().result).split('\n');
  expect(lines.slice(0, 6)).toEqual([
    'Model linear',
    '',
    'method      recall@10              Δ     p',
    '─'.repeat(42),
    'hand-tuned  .500 [.41, .62]        —     —',
    'learned     .750 [.70, .80] ▲  +.250  .013',
  ]);
});

test('Markdown has differences, sentences and what made the numbers', () => {
  const text = renderTrainingMarkdown(buildTwoMethods().result);
  expect(text).toContain('| hand-tuned (baseline) | .500 [.41, .62]   |');
  expect(text).toMatch(/\| learned \| \+\.250 \[\+\.11, \+\.29\], p \.013 ▲ \|/);
  expect(text).toContain('Training sample-training (5a17c0de) on sample');
  expect(text).not.toContain('Weights on other data');
});

test('null controls and families stand below the methods, and nothing where there are none', () => {
  const listBeginnings = (of: TrainingResult) =>
    renderTrainingMarkdown(of)
      .split('\n\n')
      .map((part) => part.split(' ', 2).join(' '));
  const bare = { ...result, models: [{ ...model, controls: [], importance: [] }] };
  const methods = ['Model linear:', '| method', 'Differences from', '| method', 'On every', '▲ better,'];
  const end = ['Every ranking', 'Training sample-training'];
  expect(listBeginnings(bare)).toEqual([...methods, ...end]);
  const below = ['Null controls', '| exchanged', 'Without a', '| without'];
  expect(listBeginnings(result)).toEqual([...methods, ...below, ...end]);
});

test('transfer, if any, is a table with the names of the data', () => {
  const both = inventTraining(3, { ...size, second: true });
  expect(listTransferRows(result)).toHaveLength(1);
  expect(listTransferRows(both).map((row) => row.slice(0, 3))).toEqual([
    ['model', 'trained on', 'tested on'],
    ['linear', 'sample-threads', 'irc'],
    ['linear', 'irc', 'sample-threads'],
  ]);
  expect(renderTrainingMarkdown(both)).toContain('Weights on other data');
  expect(renderTrainingText(both)).toContain('Model trajectory');
});

test('sentences say how it was measured and what no order can find', () => {
  const { crossValidation } = result.config;
  expect(describeFolds(result)).toContain('7 folds, a conversation each; hyper-parameters by 3 folds');
  const five = { ...result, config: { ...result.config, crossValidation: { ...crossValidation, outer: 5 } } };
  expect(describeFolds(five)).toContain('5 folds of conversations;');
  expect(describePool(result)).toBe(
    'The candidates (bm25 + flat) hold .931 of the relevant turns; no order of them finds more. 11 signals.',
  );
});

test('searches have their budget, and a sentence where their row repeats the baseline', () => {
  const baseline = 'hand-tuned';
  const drawn = { method: 'random search', evaluations: [311, 307, 313], foldsAtStart: 2 };
  const climbed = { method: 'coordinate ascent', evaluations: [311, 311, 311], foldsAtStart: 0 };
  expect(searchSentences({ baseline, searches: [drawn, climbed] })).toEqual([
    "Searches evaluate the metric on a fold's training rows as often as takes the time of its training: random search 307 to 313, coordinate ascent 311 evaluations a fold, a gradient counted as 2.",
    'random search found nothing better than hand-tuned in 2 of 3 folds: its rankings there are those of hand-tuned.',
  ]);
  expect(searchSentences({ baseline, searches: [] })).toEqual([]);
  for (const text of [renderTrainingMarkdown(result), renderTrainingText(result)]) {
    expect(text).toContain('evaluations a fold');
    expect(text).toContain('random search found nothing better than hand-tuned in 2 of 7 folds');
  }
});
