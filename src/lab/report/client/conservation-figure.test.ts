import { beforeAll, expect, test } from 'vitest';
import { buildHandmadePayload, openPage } from '../page/page.harness.ts';
import { buildSetTraces, orderByTime, smooth } from './conservation-figure.ts';

beforeAll(() => openPage(1400));

const { queries: handmade } = buildHandmadePayload([]);
const queries = handmade.map((query, at) => ({ ...query, timestamp: [5000, 3000, 5000][at] as number }));

test('queries are in time order, those of one moment in their own', () => {
  expect(orderByTime(queries)).toEqual([1, 0, 2]);
});

test('a mean over neighbours has fewer of them at the ends', () => {
  expect(smooth([1, 2, 6, 3, 8], 3)).toEqual([1.5, 3, 11 / 3, 17 / 3, 5.5]);
  expect(smooth([1, 2], 1)).toEqual([1, 2]);
});

test('each set is a line in each of three panels, named once', () => {
  const figures = [
    [0.1, 0.2, 0.3],
    [0.5, 0.6, 0.7],
  ];
  const measured = { sets: ['memory', 'first 10'], coherence: figures, magnitude: figures, information: figures };
  const traces = buildSetTraces(measured, queries, 1);
  expect(traces.map(({ name, yaxis, showlegend }) => [name, yaxis, showlegend])).toEqual([
    ['memory', 'y', true],
    ['first 10', 'y', true],
    ['memory', 'y2', false],
    ['first 10', 'y2', false],
    ['memory', 'y3', false],
    ['first 10', 'y3', false],
  ]);
  expect(traces[0]).toMatchObject({ x: [1, 2, 3], y: [0.2, 0.1, 0.3], line: { dash: 'dot' } });
  expect(traces[1]?.text[0]).toBe('first 10, coherence .600<br>b, 1970-01-01 00:00');
});
