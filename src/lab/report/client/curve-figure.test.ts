import { beforeAll, expect, test } from 'vitest';
import { openPage } from '../page/page.harness.ts';
import { buildCurveTraces } from './curve-figure.ts';

beforeAll(() => openPage(1400));

const curves = [
  { name: 'fold 1', loss: [null, 3, 2], validation: [0.25] },
  { name: 'all conversations', loss: [null, 2.5], validation: [0.125, 0.5, 0.75, 0.625] },
];

test('folds are thin, the training on all conversations is thick', () => {
  expect(buildCurveTraces(curves, 'loss')).toMatchObject([
    { x: [0, 1, 2], y: [null, 3, 2], line: { width: 1 }, mode: 'lines' },
    { x: [0, 1], y: [null, 2.5], line: { width: 3, color: '#12608f' }, mode: 'lines+markers' },
  ]);
});

test('a curve of one point is seen, and every point says what it is', () => {
  const [first, whole] = buildCurveTraces(curves, 'validation');
  expect(first).toMatchObject({ x: [0], mode: 'lines+markers', text: ['fold 1, epoch 0: .250'] });
  expect(whole).toHaveProperty('text.3', 'all conversations, epoch 3: .625');
});
