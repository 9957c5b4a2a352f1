import { expect, test } from 'vitest';
import { sampleTraining } from './invented-training.fixture.ts';
import { trainingSections } from './training-sections.ts';

const size = { signals: 47, folds: 3, epochs: 5, queries: 29, second: false };
const result = sampleTraining(7, size);
const contentOf = (id: string, of = result) => trainingSections(of).find((one) => one.id === id)?.content.text ?? '';
const rowsOf = (text: string) => text.split('<tr>').length - 2;

test('the figure of weights says that it is cut, the table below holds all of them', () => {
  expect(contentOf('weights')).toContain('the 40 of 47 numbers');
  expect(rowsOf(contentOf('weights'))).toBe(47);
  expect(contentOf('weights', sampleTraining(7, { ...size, signals: 40 }))).not.toContain(' of 40 numbers');
});

test('without resampling nothing is said of intervals', () => {
  const { config } = result;
  const bare = { ...result, config: { ...config, evaluation: { ...config.evaluation, resamples: 0 } } };
  expect(contentOf('weights')).toContain('95 % percentile intervals of 100 trainings');
  expect(contentOf('weights', bare)).not.toContain('percentile');
});

test('the curve is called by the metric that stopped training', () => {
  const { config } = result;
  const other = { ...result, config: { ...config, fitting: { ...config.fitting, metric: 'mrr@10' as const } } };
  expect(contentOf('curves')).toContain('Validation ndcg@10');
  expect(contentOf('curves', other)).toContain('Validation mrr@10');
});

test('calibration has its error, and a row a bin, empty ones without figures', () => {
  expect(contentOf('calibration')).toContain('Expected calibration error .0123.');
  expect(rowsOf(contentOf('calibration'))).toBe(10);
  expect(contentOf('calibration')).toMatch(/<td data-value="0">0<\/td><td><\/td><td><\/td>/);
});

test('models are named where there are several', () => {
  expect(contentOf('weights')).not.toContain('Model linear');
  expect(contentOf('weights', sampleTraining(7, { ...size, second: true }))).toContain('Model trajectory');
});
