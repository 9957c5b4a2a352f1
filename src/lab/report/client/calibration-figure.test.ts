import { beforeAll, expect, test } from 'vitest';
import { openPage } from '../page/page.harness.ts';
import { buildCalibrationTraces } from './calibration-figure.ts';

beforeAll(() => openPage(1400));

test('a point and a bar a bin, none for an empty one', () => {
  const bins = [
    { low: 0, high: 0.25, count: 1234, predicted: 0.125, observed: 0.0625 },
    { low: 0.25, high: 0.5, count: 0, predicted: null, observed: null },
    { low: 0.5, high: 1, count: 7, predicted: 0.75, observed: 1 },
  ];
  expect(buildCalibrationTraces(bins)).toMatchObject([
    {
      type: 'scatter',
      x: [0.125, 0.75],
      y: [0.0625, 1],
      text: [
        'from .00 to .25: 1,234 candidates<br>predicted .125, observed .063',
        'from .50 to 1.00: 7 candidates<br>predicted .750, observed 1.000',
      ],
    },
    { type: 'bar', yaxis: 'y2', x: [0.125, 0.75], y: [1234, 7], width: [0.225, 0.45] },
  ]);
});
