import { beforeAll, expect, test } from 'vitest';
import { openPage } from '../page/page.harness.ts';
import { chooseWeightColour, weightTraces } from './weights-figure.ts';

beforeAll(() => openPage(1400));

const weight = (value: number, bounds: readonly [number, number] | null) => ({
  name: 'a < b',
  handTuned: 1,
  value,
  bounds,
});

test('a number is coloured by the side of 0 that its whole interval lies on', () => {
  expect(chooseWeightColour(weight(2, [1, 3]))).toBe('#12608f');
  expect(chooseWeightColour(weight(-2, [-3, -1]))).toBe('#ad4513');
  expect(chooseWeightColour(weight(2, [0, 3]))).toBe('#7a756c');
  expect(chooseWeightColour(weight(2, null))).toBe('#7a756c');
});

test('a line an interval, then the hand-tuned diamonds and the learned dots, a row a number', () => {
  const traces = weightTraces([weight(2, [1, 3]), weight(-1.5, null), weight(-2, [-3, -1])]);
  expect(traces).toMatchObject([
    { mode: 'lines', x: [1, 3], y: [0, 0], line: { color: '#12608f' } },
    { mode: 'lines', x: [-3, -1], y: [2, 2], line: { color: '#ad4513' } },
    { name: 'hand-tuned', x: [1, 1, 1], y: [0, 1, 2], marker: { symbol: 'diamond-open' } },
    { name: 'learned', x: [2, -1.5, -2], y: [0, 1, 2] },
  ]);
  expect(traces.at(-1)).toHaveProperty('text.0', 'a &lt; b<br>learned 2.000 [1.000, 3.000], hand-tuned 1.000');
  expect(traces.at(-1)).toHaveProperty('text.1', 'a &lt; b<br>learned −1.500, hand-tuned 1.000');
});
