import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compareByInterleaving, interleaveByTeamDraft } from './counterfactual.ts';

const ids = fc.uniqueArray(fc.constantFrom(...'abcdefghij'), { maxLength: 8 });

describe('team draft', () => {
  test('holds each id once, as many of each system as the rounds give, each in the order of its system', () => {
    fc.assert(
      fc.property(ids, ids, fc.integer({ min: 1, max: 12 }), fc.string(), (a, b, depth, key) => {
        const { ids: made, teams } = interleaveByTeamDraft(a, b, { depth, seed: 3, key });
        const union = new Set([...a, ...b]);
        expect(made).toHaveLength(Math.min(depth, union.size));
        expect(new Set(made).size).toBe(made.length);
        for (const [team, ranking] of [
          ['a', a],
          ['b', b],
        ] as const) {
          const chosen = made.filter((_, i) => teams[i] === team);
          expect(chosen).toEqual(ranking.filter((id) => chosen.includes(id)));
        }
        // Within each round of two the systems differ while both have something left.
        for (let i = 0; i + 1 < Math.min(made.length, 2); i += 2)
          if (a.length > 1 && b.length > 1) expect(teams[i]).not.toBe(teams[i + 1]);
      }),
      { numRuns: 100 },
    );
  });

  test('begins with either system about as often, and with the same one for the same key', () => {
    const first = (key: string) => interleaveByTeamDraft(['x'], ['y'], { depth: 2, seed: 3, key }).teams[0];
    const begins = Array.from({ length: 400 }, (_, i) => first(String(i)));
    expect(begins.filter((team) => team === 'a').length).toBeGreaterThan(160);
    expect(begins.filter((team) => team === 'a').length).toBeLessThan(240);
    expect(first('7')).toBe(begins[7]);
  });
});

test('the better system wins, and two equal ones tie', () => {
  const compare = (a: readonly string[], b: readonly string[]) =>
    compareByInterleaving(
      Array.from({ length: 60 }, (_, i) => {
        const ranking = interleaveByTeamDraft(a, b, { depth: 4, seed: 1, key: String(i) });
        return { ...ranking, cluster: `c${i % 30}`, used: new Set(['good']) };
      }),
      { samples: 300, seed: 2 },
    );
  const better = compare(['good', 'x', 'y', 'z'], ['p', 'q', 'r', 's']);
  expect(better).toMatchObject({ wins: { a: 60, b: 0 }, ties: 0, preference: { mean: 1 } });
  const equal = compare(['good', 'x'], ['good', 'y']);
  expect(equal.preference.low as number).toBeLessThan(0);
  expect(equal.preference.high as number).toBeGreaterThan(0);
  expect(compare(['p'], ['q']).ties).toBe(60);
});

test('a depth that is no number is refused', () => {
  expect(() => interleaveByTeamDraft([], [], { depth: 0, seed: 1, key: '' })).toThrow(
    'depth is not a positive integer',
  );
});
