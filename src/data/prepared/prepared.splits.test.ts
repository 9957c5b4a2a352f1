import { createHash } from 'node:crypto';
import { describe, expect, it, test } from 'vitest';
import { chooseSplitByHash, findTestStart, isDev } from './prepared.ts';

describe('the split by time', () => {
  const starts = Array.from({ length: 13 }, (_, i) => ({ id: `c${i}`, timestamp: (i * 5) % 13 }));

  it('has the first 70 % for development', () => {
    const first = findTestStart(starts);
    const dev = starts.filter((start) => isDev(start, first));
    expect(dev.length).toBe(9);
    expect(dev.every((start) => start.timestamp < 9)).toBe(true);
  });

  it('parts equal times by id', () => {
    const equal = ['d', 'a', 'c', 'b'].map((id) => ({ id, timestamp: 7 }));
    const first = findTestStart(equal);
    expect(equal.filter((start) => isDev(start, first)).map(({ id }) => id)).toEqual(['a', 'b']);
  });

  it('leaves nothing for test where nothing is counted', () => {
    expect(isDev({ id: 'a', timestamp: 1 }, findTestStart([]))).toBe(true);
  });
});

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
