import { expect, test } from 'vitest';
import type { FoldResult } from '../../measure/fit-result.ts';
import { renderFitSections } from './fit-sections.ts';
import { inventFitted } from './invented-fit.fixture.ts';

const size = { signals: 47, folds: 3, epochs: 5, queries: 29 };
const result = inventFitted(7, size);
const renderSectionText = (id: string, of = result) =>
  renderFitSections(of).find((one) => one.id === id)?.content.text ?? '';
const countRows = (text: string, label: string) =>
  (text.split(`aria-label="${label}"`)[1]?.split('</table>', 1)[0]?.split('<tr').length ?? 0) - 2;

test('the figure of weights says that it is cut, the table below holds all of them', () => {
  expect(renderSectionText('weights')).toContain('the 40 of 47 numbers');
  expect(countRows(renderSectionText('weights'), 'numbers of linear')).toBe(47);
  expect(renderSectionText('weights', inventFitted(7, { ...size, signals: 40 }))).not.toContain(' of 40 numbers');
});

test('without resampling nothing is said of intervals', () => {
  const bare = { ...result, fit: { ...result.fit, resamples: 0 } };
  expect(renderSectionText('weights')).toContain('95 % percentile intervals of 100 trainings');
  expect(renderSectionText('weights', bare)).not.toContain('percentile');
});

test('the curve is called by the metric that stopped training', () => {
  const other = { ...result, fit: { ...result.fit, validatedBy: 'mrr@10' } };
  expect(renderSectionText('curves')).toContain('Validation ndcg@10');
  expect(renderSectionText('curves', other)).toContain('Validation mrr@10');
});

test('calibration has its error, and a row a bin, empty ones without figures', () => {
  expect(renderSectionText('calibration')).toContain('Expected calibration error .0123.');
  expect(countRows(renderSectionText('calibration'), 'calibration of linear')).toBe(10);
  expect(renderSectionText('calibration')).toMatch(/<td data-value="0">0<\/td><td><\/td><td><\/td>/);
});

test('hyper-parameters are a row a fold, and last what the weight file was trained with', () => {
  const folds = [
    { ...(result.fit.folds[0] as FoldResult), clusters: ['a', 'b'], point: { l2: 0.5 }, epochs: 3 },
    { ...(result.fit.folds[1] as FoldResult), clusters: ['c', 'd', 'e', 'f'], point: { l2: 0.25 }, epochs: 5 },
  ];
  const text = renderSectionText('weights', {
    ...result,
    fit: { ...result.fit, folds, point: { l2: 0.125 }, epochs: 7 },
  });
  const table = text.split('aria-label="hyper-parameters of linear"')[1]?.split('</table>', 1)[0] ?? '';
  const rows = [...table.matchAll(/<tr>(<td.*?)<\/tr>/g)].map(([, row]) =>
    [...(row as string).matchAll(/>([^<]*)<\/td>/g)].map(([, cell]) => cell),
  );
  expect(rows).toEqual([
    ['1', 'a, b', '0.5', '3'],
    ['2', '4 conversations', '0.25', '5'],
    ['all', 'nothing', '0.125', '7'],
  ]);
  expect(text).toContain('weights-linear.safetensors');
});

test('weights of users have their table of arms and their numbers', () => {
  const weights = {
    semantic_similarity: 0.5,
    entity_overlap: 0.1,
    temporal_relevance: 0.2,
    importance: 0.1,
    reinforcement: 0.1,
  };
  const learned = [{ user: 'ann', strategy: 'procedural' as const, questions: 11, share: 0.5, weights }];
  const arms = result.arms.slice(0, 2).map((arm, a) => ({ ...arm, name: ['strategy', 'user'][a] as string }));
  const users = { arms, baseline: 'strategy', asked: 7, learned, file: 'users.json' };
  const text = renderSectionText('users', { ...result, users });
  expect(text).toContain('Weights of users: 1 of 7 users');
  expect(text).toContain('>ann</td>');
});
