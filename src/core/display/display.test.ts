import { expect, test } from 'vitest';
import { readDisplay } from './display.harness.ts';
import { attachDisplay, DISPLAY, joinBundles } from './display.ts';

test('a display is the method that a notebook calls, and nothing else sees it', async () => {
  const result = attachDisplay({ mean: 0.5 }, ({ mean }) => ({ 'text/plain': `mean ${mean}` }));
  expect(DISPLAY).toBe(Symbol.for('Jupyter.display'));
  expect(await readDisplay(result)).toEqual({ 'text/plain': 'mean 0.5' });
  expect(JSON.stringify(result)).toBe('{"mean":0.5}');
  expect(result).toStrictEqual({ mean: 0.5 });
  expect(Reflect.ownKeys({ ...result })).toEqual(['mean']);
  expect(structuredClone(result)).toEqual({ mean: 0.5 });
});

test('several displays follow each other, one is left as it is', () => {
  const [first, second] = [{ 'text/plain': 'a', 'text/html': '<p>a</p>' }, { 'text/plain': 'b' }];
  expect(joinBundles([first, second])).toEqual({ 'text/plain': 'a\n\nb', 'text/html': '<p>a</p>' });
  expect(joinBundles([first])).toBe(first);
});
