import { expect, test } from 'vitest';
import { createRandom } from './random.ts';

const draw = (seed: number, name: string, count = 5) => {
  const stream = createRandom(seed, name);
  return Array.from({ length: count }, () => stream.uniform());
};

test('a seed and a name give the same stream; another seed or name gives another', () => {
  expect(draw(7, 'a')).toEqual(draw(7, 'a'));
  expect(draw(8, 'a')).not.toEqual(draw(7, 'a'));
  expect(draw(7, 'b')).not.toEqual(draw(7, 'a'));
});

test('uniform, normal and integer have the moments that they should', () => {
  const stream = createRandom(3, 'moments');
  const n = 20_011;
  const mean = (values: number[]) => values.reduce((a, b) => a + b, 0) / values.length;
  const uniform = Array.from({ length: n }, () => stream.uniform());
  expect(Math.min(...uniform)).toBeGreaterThanOrEqual(0);
  expect(Math.max(...uniform)).toBeLessThan(1);
  expect(Math.abs(mean(uniform) - 0.5)).toBeLessThan(0.01);
  const normal = Array.from({ length: n }, () => stream.drawNormal());
  expect(Math.abs(mean(normal))).toBeLessThan(0.03);
  expect(Math.abs(mean(normal.map((x) => x * x)) - 1)).toBeLessThan(0.05);
  const counts = new Map<number, number>();
  for (let i = 0; i < n; i++) {
    const value = stream.integer(5);
    counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  expect([...counts.keys()].sort()).toEqual([0, 1, 2, 3, 4]);
  for (const count of counts.values()) expect(Math.abs(count / n - 0.2)).toBeLessThan(0.02);
});

test('a shuffle keeps the elements and moves them', () => {
  const items = Array.from({ length: 23 }, (_, i) => i);
  const shuffled = createRandom(1, 'shuffle').shuffle([...items]);
  expect(shuffled).not.toEqual(items);
  expect([...shuffled].sort((a, b) => a - b)).toEqual(items);
});
