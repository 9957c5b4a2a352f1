import { expect, test } from 'vitest';
import { chooseNested } from './nested-choice.ts';

const clusters = ['x', 'x', 'y', 'z', 'y'];
const arms = new Map([
  ['a', [0, 0, 1, 1, 1]],
  ['b', [1, 1, 0, 0, 0]],
  ['c', [0, 0, 1, 1, 1]],
]);

test('each conversation has the arm that is best on the others, of equal ones the first', () => {
  // Without x: a 1, b 0. Without y: a 1/3, b 2/3. Without z: a 2/4, b 2/4.
  expect(chooseNested(arms, clusters)).toEqual({ values: [0, 0, 0, 1, 0], chosen: { x: 'a', y: 'b', z: 'a' } });
});

test('the values of a conversation do not affect its own choice', () => {
  const changed = new Map([...arms, ['b', [9, 9, 0, 0, 0]] as const]);
  expect(chooseNested(changed, clusters).chosen.x).toBe('a');
});
