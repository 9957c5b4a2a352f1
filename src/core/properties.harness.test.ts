import fc from 'fast-check';
import { expect, test } from 'vitest';

test('a property meets the same cases at every run', () => {
  const listDrawnCases = () => {
    const cases: number[] = [];
    fc.assert(fc.property(fc.integer(), (value) => void cases.push(value)));
    return cases;
  };
  const cases = listDrawnCases();
  expect(new Set(cases).size).toBeGreaterThan(50);
  expect(listDrawnCases()).toEqual(cases);
});
