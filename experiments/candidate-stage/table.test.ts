import { expect, test } from 'vitest';
import { findFrontier, formatFrontierTable, formatGridTable, type GraphPoint } from './table.ts';

const buildGraphPoint = (m: number, efSearch: number, recall: number, milliseconds: number): GraphPoint => ({
  m,
  efConstruction: 40,
  efSearch,
  recall,
  milliseconds,
  buildSeconds: 1.25,
  graphBytes: 10 * m,
});
const points = [
  buildGraphPoint(4, 10, 0.7, 0.2),
  buildGraphPoint(4, 20, 0.8, 0.3),
  buildGraphPoint(8, 10, 0.8, 0.25),
  buildGraphPoint(8, 20, 0.95, 0.4),
  buildGraphPoint(16, 10, 0.9, 0.5),
  buildGraphPoint(16, 20, 0.95, 0.4),
];

test('the frontier leaves out what another beats, and keeps equals', () => {
  expect(findFrontier(points).map(({ m, efSearch }) => [m, efSearch])).toEqual([
    [4, 10],
    [8, 10],
    [8, 20],
    [16, 20],
  ]);
  expect(formatFrontierTable(points, 7).split('\n')).toHaveLength(6);
});

test('the grid has a row a graph', () => {
  expect(formatGridTable(points).split('\n').slice(2)).toEqual([
    '| M 4, efConstruction 40  | 1.3 |  40 | .700, .20 ms | .800, .30 ms |'.replace(
      ' 1.3 |  40 |',
      '     1.3 |           40 |',
    ),
    '| M 8, efConstruction 40  |     1.3 |           80 | .800, .25 ms | .950, .40 ms |',
    '| M 16, efConstruction 40 |     1.3 |          160 | .900, .50 ms | .950, .40 ms |',
  ]);
});
