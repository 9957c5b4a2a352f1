import { expect, test } from 'vitest';
import { computeByFamily } from './arm-families.ts';

const seen: [string[], number][] = [];
const listLabelled = (arms: readonly string[], isControl: (place: number) => boolean, baseline: number) => {
  seen.length = 0;
  return computeByFamily(arms, isControl, baseline, (members, base) => {
    seen.push([[...members], base]);
    return members.map((member) => `${member} of ${members.length}, ${seen.length}`);
  });
};

test('controls and arms proper are computed apart, the baseline in both', () => {
  const values = listLabelled(['a', 'a*', 'base', 'b', 'b*', 'c*'], (place) => [1, 4, 5].includes(place), 2);
  expect(seen).toEqual([
    [['a', 'base', 'b'], 1],
    [['a*', 'base', 'b*', 'c*'], 1],
  ]);
  expect(values).toEqual(['a of 3, 1', 'a* of 4, 2', 'base of 3, 1', 'b of 3, 1', 'b* of 4, 2', 'c* of 4, 2']);
});

test('without a baseline among them, and without controls', () => {
  expect(listLabelled(['a', 'a*'], (place) => place === 1, -1)).toEqual(['a of 1, 1', 'a* of 1, 2']);
  expect(seen.map(([, base]) => base)).toEqual([-1, -1]);
  expect(listLabelled(['a', 'base'], () => false, 1)).toEqual(['a of 2, 1', 'base of 2, 1']);
});
