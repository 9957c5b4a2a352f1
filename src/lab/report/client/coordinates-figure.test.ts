import { beforeAll, expect, test } from 'vitest';
import { buildHandmadeArm, buildHandmadePayload, openPage } from '../page/page.harness.ts';
import * as app from './app.ts';
import {
  buildPlacedTraces,
  formatRanks,
  listCoordinates,
  listPlaced,
  readAxes,
  shareLabels,
} from './coordinates-figure.ts';

beforeAll(() => openPage(1400));

const state = app.createApp(
  buildHandmadePayload([
    buildHandmadeArm('base', { rankings: [[5, 1], [], []] }),
    buildHandmadeArm('placed', {
      rankings: [[5, 1, 2, 0.5], [], []],
      coordinateNames: ['depth', 'temporal', 'homogeneity'],
      coordinates: [[0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.1, 1.2], [], []],
    }),
  ]),
);

test('a ranked turn has its own coordinates and those of the query in its frame', () => {
  expect(listCoordinates(state)).toEqual(['depth', 'temporal', 'homogeneity']);
  expect(listPlaced(state, 1, 0)).toEqual([
    { turn: 5, rank: 1, own: [0.1, 0.2, 0.3], query: [0.4, 0.5, 0.6] },
    { turn: 2, rank: 2, own: [0.7, 0.8, 0.9], query: [1, 1.1, 1.2] },
  ]);
  expect(listPlaced(state, 1, 1)).toEqual([]);
  expect(listPlaced(state, 0, 0)).toEqual([]);
});

test('candidates are joined to the query on the chosen axes', () => {
  const column = { letter: 'B', arm: 1, symbol: 'diamond' } as const;
  const axes = [
    { name: 'homogeneity', range: [0, 1.2] },
    { name: 'depth', range: [0, 1] },
  ] as const;
  expect(buildPlacedTraces(state, column, 0, axes)).toMatchObject([
    { mode: 'lines', x: [0.3, 0.6, null, 0.9, 1.2, null], y: [0.1, 0.4, null, 0.7, 1, null] },
    { mode: 'markers', x: [0.6, 1.2], y: [0.4, 1] },
    { mode: 'markers', x: [0.3, 0.9], y: [0.1, 0.7], marker: { symbol: 'diamond' } },
    {
      mode: 'markers+text',
      x: [0.3, 0.9],
      y: [0.1, 0.7],
      text: ['1', '2'],
      textposition: ['bottom right', 'bottom left'],
    },
  ]);
});

test('candidates whose marks lie on each other share a label', () => {
  const axes = [
    { name: 'depth', range: [0, 10] },
    { name: 'temporal', range: [0, 1] },
  ] as const;
  const places = [
    { x: 0, y: 1, rank: 1 },
    { x: 0.19, y: 0.96, rank: 2 }, // within 2 % across and 5 % up
    { x: 0.21, y: 1, rank: 3 },
    { x: 0, y: 1, rank: 4 },
    { x: 0, y: 0.94, rank: 5 },
  ];
  expect(shareLabels(places, axes).map(({ ranks }) => ranks)).toEqual([[1, 2, 4], [3], [5]]);
  expect(formatRanks([1, 2, 4])).toBe('1–2, 4');
  expect(formatRanks([1, 2, 3, 5, 8, 9])).toBe('1–3, 5, 8–9');
});

test('the axes are the chosen ones, else those of time and likeness', () => {
  expect(readAxes(state)).toEqual({ across: 'temporal', up: 'homogeneity' });
  app.choose(state, { vertical: 'depth' });
  expect(readAxes(state)).toEqual({ across: 'temporal', up: 'depth' });
});
