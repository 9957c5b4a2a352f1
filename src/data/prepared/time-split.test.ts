import { describe, expect, it } from 'vitest';
import { findTestStart, isDev } from './time-split.ts';

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
