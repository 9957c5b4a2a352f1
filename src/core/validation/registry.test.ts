import { expect, test } from 'vitest';
import { z } from 'zod';
import { OptionsRegistry, Registry } from './registry.ts';

const circle = { options: z.strictObject({ shape: z.literal('circle'), radius: z.number() }), description: 'round' };
const square = { options: z.strictObject({ shape: z.literal('square') }), description: 'straight' };

test('members are found by the literal of their options, in the order in which they were given', () => {
  const shapes = new OptionsRegistry('shape', [circle, square]);
  expect(shapes.names).toEqual(['circle', 'square']);
  expect(shapes.members).toEqual([circle, square]);
  expect(shapes.get('square').description).toBe('straight');
  expect(shapes.find('toString')).toBeUndefined();
  expect(shapes.nearest('cirle')).toBe('circle');
  expect(shapes.nearest('hyperboloid')).toBeUndefined();
});

test('the options of all members are one schema, which refuses unknown members and unknown keys', () => {
  const { options } = new OptionsRegistry('shape', [circle, square]);
  const round: z.output<typeof options> = options.parse({ shape: 'circle', radius: 3 });
  expect(round).toEqual({ shape: 'circle', radius: 3 });
  for (const wrong of [{ shape: 'oval' }, { radius: 3 }, { shape: 'circle' }, { shape: 'square', radius: 3 }])
    expect(options.safeParse(wrong).success).toBe(false);
});

test('two members of one name are refused', () => {
  expect(() => new OptionsRegistry('shape', [circle, square, circle])).toThrow(
    'two members have one name, rename one of them: circle',
  );
});

test('members without options are found by their names', () => {
  const registry = new Registry([{ word: 'one' }, { word: 'two' }] as const, ({ word }) => word);
  expect(registry.find('two')).toEqual({ word: 'two' });
  expect(registry.find('three')).toBeUndefined();
  expect(Object.isFrozen(registry.members)).toBe(true);
  expect(new Registry([{ name: 'one' }, { name: 'two' }]).names).toEqual(['one', 'two']);
});
