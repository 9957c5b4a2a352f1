import { describe, expect, test } from 'vitest';
import { COMBINATIONS } from './attention-options.cases.ts';
import { allocateTerms, hideKeys, type LogitTerms, MASKED, type RingAttentionOptions, writeTerms } from './options.ts';

const TURNS = 11;
const COSINE = -0.3;
const QUERIES = Int32Array.of(2, 3, 3, 9);
const KEYS = { first: -2, count: 17 }; // two positions before the first turn, four after the last

/** The logit of position j, which may lie beyond the turns, for a query at i; undefined where it is no key. */
function computeLogitByDefinition(
  i: number,
  position: number,
  options: RingAttentionOptions,
  width: number,
): number | undefined {
  const { topology, direction, combine, self, decay, temperature } = options;
  if (Math.abs(i - position) > width || (topology === 'line' && (position < 0 || position >= TURNS))) return undefined;
  const j = (position + TURNS) % TURNS;
  if ((direction === 'causal' && j > i) || (direction === 'anticausal' && j < i)) return undefined;
  if (self === 'exclude' && j === i) return undefined;
  const steps = Math.abs(i - j);
  const distance = topology === 'ring' ? Math.min(steps, TURNS - steps) : steps;
  const semantic = (1 + COSINE) / 2;
  return combine === 'multiplicative'
    ? (semantic * Math.exp(-decay * distance)) / temperature
    : semantic / temperature - decay * distance;
}

function readTerm(
  { slope, offset, columns }: LogitTerms,
  row: number,
  column: number,
): { slope: number; logit: number } {
  const [a, b] = [slope[row * columns + column] as number, offset[row * columns + column] as number];
  return { slope: a, logit: COSINE * a + b };
}

describe.each([2, 5])('within %d steps', (width) => {
  test.each(COMBINATIONS)('%s', (_, options) => {
    const terms = allocateTerms(QUERIES.length, KEYS.count);
    writeTerms(terms, { row: 0, column: 0 }, QUERIES, KEYS, { turns: TURNS, options, width });
    for (const [row, i] of QUERIES.entries()) {
      for (let column = 0; column < KEYS.count; column++) {
        const expected = computeLogitByDefinition(i, KEYS.first + column, options, width);
        if (expected === undefined)
          expect(readTerm(terms, row, column)).toEqual({ slope: 0, logit: Math.fround(MASKED) });
        else expect(readTerm(terms, row, column).logit).toBeCloseTo(expected, 5);
      }
    }
  });
});

test('a written term is at its corner, the others keep the empty value', () => {
  const [, options] = COMBINATIONS[0] as (typeof COMBINATIONS)[number];
  const terms = allocateTerms(5, 7, 0);
  expect([terms.slope.length, terms.offset.length, terms.columns]).toEqual([35, 35, 7]);
  writeTerms(
    terms,
    { row: 2, column: 3 },
    Int32Array.of(0, 1),
    { first: 0, count: 2 },
    { turns: 2, options, width: 2 },
  );
  const written = [...terms.slope.keys()].filter((at) => terms.slope[at] !== 0);
  expect(written).toEqual([17, 18, 24, 25]);
  expect([...terms.offset.keys()].filter((at) => terms.offset[at] !== 0)).toEqual(written);
});

describe('hidden keys', () => {
  const [, options] = COMBINATIONS[0] as (typeof COMBINATIONS)[number];
  const keyMask = new Uint8Array(TURNS).fill(1).fill(0, 3, 5);
  const mask = new Uint8Array(5 * TURNS).fill(1).fill(0, 4 * TURNS, 4 * TURNS + 2); // the fifth query sees neither 0 nor 1
  const CHOSEN = Int32Array.of(4, 1); // rows of the queries, in the block's order

  test.each([
    ['of all queries', { keyMask }, (_: number, j: number) => j === 3 || j === 4],
    ['of one query', { mask }, (row: number, j: number) => row === 0 && j < 2],
    ['of both kinds', { keyMask, mask }, (row: number, j: number) => j === 3 || j === 4 || (row === 0 && j < 2)],
    ['of none', {}, () => false],
  ] as const)('%s are as if nothing had been written for them', (_, masks, isHidden) => {
    for (const masked of [0, MASKED] as const) {
      const terms = allocateTerms(2, KEYS.count, masked);
      writeTerms(terms, { row: 0, column: 0 }, Int32Array.of(5, 5), KEYS, { turns: TURNS, options, width: TURNS });
      const whole = { ...terms, slope: terms.slope.slice(), offset: terms.offset.slice() };
      hideKeys(terms, { turns: TURNS, ...masks }, CHOSEN, KEYS, masked);
      for (let row = 0; row < 2; row++) {
        for (let column = 0; column < KEYS.count; column++) {
          const hidden = isHidden(row, (KEYS.first + column + TURNS) % TURNS);
          const expected = hidden ? { slope: 0, logit: Math.fround(masked) } : readTerm(whole, row, column);
          expect(readTerm(terms, row, column)).toEqual(expected);
        }
      }
    }
  });
});
