import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { chooseSplitByHash } from './hash-split.ts';

const ids = Array.from({ length: 1009 }, (_, i) => `question-${i}`);

test('the first bit of the SHA-256 of the id decides', () => {
  for (const id of ids) {
    const isDev = (createHash('sha256').update(id).digest()[0] as number) < 128;
    expect(chooseSplitByHash(id)).toBe(isDev ? 'dev' : 'test');
  }
});

test('about half of the questions are for test', () => {
  const share = ids.filter((id) => chooseSplitByHash(id) === 'test').length / ids.length;
  expect(Math.abs(share - 0.5)).toBeLessThan(0.05); // three standard deviations
});
