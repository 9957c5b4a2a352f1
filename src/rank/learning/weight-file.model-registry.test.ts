import { expect, test } from 'vitest';
import { createLinearModel } from './linear-model.ts';
import { createTrajectoryModel } from './trajectory-model.ts';
import { restoreModel } from './weight-file.ts';

const constants = { means: Float64Array.of(1), deviations: Float64Array.of(2) };

test.each([
  createLinearModel({ signals: ['a'], nonNegative: [], initial: {} }, constants),
  createTrajectoryModel({ dimensions: 7, self: 'exclude' }),
])('a $name model is made again of its config and constants', (model) => {
  const restored = restoreModel(model.name, model.config, model.constants, 'here');
  expect(restored.parameters).toEqual(model.parameters);
  expect(restored.config).toEqual(model.config);
  expect(restored.constants).toEqual(model.constants);
});

test('an unknown model is answered with those that are known', () => {
  expect(() => restoreModel('trajectori', {}, {}, 'here')).toThrow('unknown model in here: trajectori; use trajectory');
  expect(() => restoreModel('forest', {}, {}, 'here')).toThrow(
    'unknown model in here: forest; use one of linear, trajectory',
  );
});
