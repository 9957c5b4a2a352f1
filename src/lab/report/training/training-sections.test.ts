import { expect, test } from 'vitest';
import { inventTraining } from './invented-training.fixture.ts';
import { renderTrainingSections } from './training-sections.ts';

const size = { signals: 47, folds: 3, epochs: 5, queries: 29, second: false };
const result = inventTraining(7, size);
const renderSectionText = (id: string, of = result) =>
  renderTrainingSections(of).find((one) => one.id === id)?.content.text ?? '';
const countBodyRows = (text: string) => text.split('<tr>').length - 2;

test('the figure of weights says that it is cut, the table below holds all of them', () => {
  expect(renderSectionText('weights')).toContain('the 40 of 47 numbers');
  expect(countBodyRows(renderSectionText('weights'))).toBe(47);
  expect(renderSectionText('weights', inventTraining(7, { ...size, signals: 40 }))).not.toContain(' of 40 numbers');
});

test('without resampling nothing is said of intervals', () => {
  const { config } = result;
  const bare = { ...result, config: { ...config, evaluation: { ...config.evaluation, resamples: 0 } } };
  expect(renderSectionText('weights')).toContain('95 % percentile intervals of 100 trainings');
  expect(renderSectionText('weights', bare)).not.toContain('percentile');
});

test('the curve is called by the metric that stopped training', () => {
  const { config } = result;
  const other = { ...result, config: { ...config, fitting: { ...config.fitting, metric: 'mrr@10' as const } } };
  expect(renderSectionText('curves')).toContain('Validation ndcg@10');
  expect(renderSectionText('curves', other)).toContain('Validation mrr@10');
});

test('calibration has its error, and a row a bin, empty ones without figures', () => {
  expect(renderSectionText('calibration')).toContain('Expected calibration error .0123.');
  expect(countBodyRows(renderSectionText('calibration'))).toBe(10);
  expect(renderSectionText('calibration')).toMatch(/<td data-value="0">0<\/td><td><\/td><td><\/td>/);
});

test('models are named where there are several', () => {
  expect(renderSectionText('weights')).not.toContain('Model linear');
  expect(renderSectionText('weights', inventTraining(7, { ...size, second: true }))).toContain('Model trajectory');
});
