import { describe, expect, test } from 'vitest';
import { type PropagationOptions, propagationOptions } from './options.ts';
import { countNewcomerSteps, planVersions } from './versioned-propagation.ts';

const POSITIONS = Int32Array.of(3, 5, 8, 9, 12, 20, 21);
const END = 30;
/** They see 2, 5 and 7 of the turns; the first sees none. */
const CUTOFFS = Int32Array.of(3, 6, 13, 25);

function plan(options: Partial<PropagationOptions>, reach = 2): number[][] {
  const versions = planVersions(POSITIONS, CUTOFFS, END, reach, propagationOptions.parse(options));
  return versions.map(({ turn, size, validFrom, validTo }) => [size, turn, validFrom, validTo]);
}

describe('a plan by hand, newcomers reaching 2 steps', () => {
  test('on a ring the first turns stand next to every newcomer', () => {
    expect(plan({ topology: 'ring' })).toEqual([
      [2, 0, 6, 9],
      [2, 1, 6, 9],
      [5, 0, 13, 21],
      [5, 1, 13, 21],
      [5, 2, 13, END],
      [5, 3, 13, 21],
      [5, 4, 13, 21],
      [7, 0, 22, END],
      [7, 1, 22, END],
      [6, 3, 21, END],
      ...[4, 5, 6].map((position) => [7, position, 22, END]),
    ]);
  });

  test('on a line, or where turns look back only, the first turns settle too', () => {
    const expected = [
      [2, 0, 6, 9],
      [2, 1, 6, 9],
      [3, 0, 9, END],
      [4, 1, 10, END],
      [5, 2, 13, END],
      [5, 3, 13, 21],
      [5, 4, 13, 21],
      [6, 3, 21, END],
      ...[4, 5, 6].map((position) => [7, position, 22, END]),
    ];
    expect(plan({ topology: 'line' })).toEqual(expected);
    expect(plan({ topology: 'ring', direction: 'causal' })).toEqual(expected);
  });

  test('looking back along a line, each turn has one version', () => {
    expect(plan({ topology: 'line', direction: 'causal' }).map(([size, position]) => [size, position])).toEqual([
      [1, 0],
      [2, 1],
      [3, 2],
      [4, 3],
      [5, 4],
      [6, 5],
      [7, 6],
    ]);
  });
});

test('a newcomer reaches everything where far turns keep their weight', () => {
  expect(countNewcomerSteps(propagationOptions.parse({ combine: 'multiplicative' }), 1e-5)).toBe(
    Number.POSITIVE_INFINITY,
  );
  expect(countNewcomerSteps(propagationOptions.parse({ combine: 'additive', decay: 1, temperature: 1 }), 1e-5)).toBe(
    14,
  );
  expect(plan({}, Number.POSITIVE_INFINITY)).toHaveLength(2 + 5 + 7);
});
