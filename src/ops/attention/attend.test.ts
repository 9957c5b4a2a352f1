import * as tf from '@tensorflow/tfjs-core';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { createRandom } from '../../core/numbers/random.ts';
import { prefersPlainProducts, useBackend } from '../../core/tensors/backend.ts';
import { TEST_BACKENDS } from '../../core/tensors/backends.harness.ts';
import { attend } from './attend.ts';
import { COMBINATIONS } from './attention-options.cases.ts';
import { findWorstRowError } from './attention-row.oracle.ts';
import type { AttentionRows } from './attention-rows.ts';
import { bandedRingAttention } from './banded-ring-attention.ts';
import { RING_ATTENTION_DEFAULTS, type RingAttentionOptions } from './options.ts';

const D = 3;
const source = createRandom(9, 'attend.test');
const numbers = Float32Array.from({ length: 1009 * D }, () => source.drawNormal());

function cutConversation(turns: number): AttentionRows {
  const rows = numbers.subarray(0, turns * D);
  return { turns, queries: rows, keys: rows, values: rows };
}

/** Queries that are no turns of the conversation, several at one position, in no order. */
function drawQueriesOf(
  count: number,
  turns: number,
  seed: number,
): Required<Pick<AttentionRows, 'queries' | 'queryRingPositions'>> {
  const draw = createRandom(seed, 'attend.test/queries');
  return {
    queries: Float32Array.from({ length: count * D }, () => draw.drawNormal()),
    queryRingPositions: Int32Array.from({ length: count }, () => draw.integer(turns)),
  };
}

/** A third is masked, and a run of positions. */
function drawMask(size: number, seed: number): Uint8Array {
  const draw = createRandom(seed, 'attend.test/holes');
  const mask = Uint8Array.from({ length: size }, () => Number(draw.integer(3) > 0));
  const start = draw.integer(size);
  return mask.fill(0, start, start + Math.min(37, size >> 2));
}

const numberRows = (count: number) => Array.from({ length: count }, (_, i) => i);
const B = 41;
const SHAPES: Readonly<Record<string, (turns: number) => Partial<AttentionRows>>> = {
  'every turn asks': () => ({}),
  'queries of their own': (turns) => drawQueriesOf(B, turns, 1),
  'masked keys': (turns) => ({ keyMask: drawMask(turns, 2) }),
  'queries of their own, masked keys': (turns) => ({ ...drawQueriesOf(B, turns, 3), keyMask: drawMask(turns, 4) }),
  'queries of their own, masked pairs': (turns) => ({ ...drawQueriesOf(B, turns, 5), mask: drawMask(B * turns, 6) }),
  'masked keys, masked pairs': (turns) => ({ keyMask: drawMask(turns, 7), mask: drawMask(turns * turns, 8) }),
};

describe.each(TEST_BACKENDS)('on %s', (backend) => {
  beforeAll(() => useBackend(backend));

  // A conversation takes a second on Vulkan in software.
  const combinations = backend === 'webgpu' ? COMBINATIONS.filter((_, i) => i % 5 === 0) : COMBINATIONS;

  describe.each(Object.entries(SHAPES))('%s', (_, shape) => {
    const conversations = [29, 331].map((turns): AttentionRows => ({ ...cutConversation(turns), ...shape(turns) }));

    test.each(combinations)('%s', async (_, options) => {
      for (const rows of conversations) {
        const { turns } = rows;
        const before = tf.memory().numTensors;
        const result = await attend(rows, options);
        expect(tf.memory().numTensors).toBe(before);
        const isBanded = turns === 331 && rows.mask === undefined && prefersPlainProducts();
        expect(result.method).toBe(isBanded ? 'banded' : 'dense');
        expect(result.errorBound).toBeLessThanOrEqual(isBanded ? 1e-6 : 0);
        const count = rows.queryRingPositions?.length ?? turns;
        expect(result.output).toHaveLength(count * D);
        const sample = numberRows(count).filter((i) => count < 50 || i % 11 === 0 || i === count - 1);
        expect(findWorstRowError(result.output, rows, options, sample)).toBeLessThan(5e-5);
      }
    });
  });

  test('random queries, holes, options and tolerances stay within the proven bound', async () => {
    const methods = { banded: 0, dense: 0 };
    const options = fc.record({
      combination: fc.constantFrom(...COMBINATIONS.map(([, chosen]) => chosen)),
      decay: fc.double({ min: 0.2, max: 4, noNaN: true }),
      temperature: fc.double({ min: 0.05, max: 3, noNaN: true }),
    });
    const parameters = [fc.noBias(fc.integer({ min: 1, max: 409 })), fc.nat(), options, fc.constantFrom(1, 0.1, 1e-4)];
    await fc.assert(
      fc.asyncProperty(
        ...(parameters as [fc.Arbitrary<number>, fc.Arbitrary<number>, typeof options, fc.Arbitrary<number>]),
        async (turns, seed, { combination, decay, temperature }, tolerance) => {
          const chosen: RingAttentionOptions = { ...combination, decay, temperature };
          const values = Float32Array.from({ length: turns }, (_, i) => (i % 2 === 0 ? 1 : -1)); // of length 1
          const rows = {
            ...cutConversation(turns),
            ...drawQueriesOf(17, turns, seed),
            keyMask: drawMask(turns, seed),
            values,
          };
          const result = await bandedRingAttention(rows, chosen, { tolerance });
          methods[result.method]++;
          const error = findWorstRowError(result.output, rows, chosen, numberRows(17));
          expect(error).toBeLessThanOrEqual(result.errorBound + 1e-6 + 2e-6 / temperature);
          expect(result.errorBound).toBeLessThanOrEqual(tolerance);
        },
      ),
      { seed: 3, numRuns: backend === 'webgpu' ? 13 : 101 },
    );
    expect(Math.min(methods.banded, methods.dense)).toBeGreaterThan(1);
  });

  test('no query, one turn, and nothing to see', async () => {
    const one = cutConversation(1);
    const none = { ...one, queries: new Float32Array(0), queryRingPositions: new Int32Array(0) };
    expect((await attend(none, RING_ATTENTION_DEFAULTS)).output).toHaveLength(0);
    for (const [, options] of COMBINATIONS) {
      const alone = (await attend(one, options)).output;
      for (const [d, value] of alone.entries())
        expect(value).toBeCloseTo(options.self === 'exclude' ? 0 : (one.values[d] as number), 6);
      for (const turns of [13, 331]) {
        const blind = { ...cutConversation(turns), keyMask: new Uint8Array(turns) };
        expect((await attend(blind, options)).output.every((value) => value === 0)).toBe(true);
      }
    }
  });
});

describe('the choice', () => {
  const SAMPLE = [0, 1, 89];
  beforeAll(() => useBackend('wasm'));

  test('short conversations are dense, long ones banded', async () => {
    const short = await attend(cutConversation(97), RING_ATTENTION_DEFAULTS);
    expect(short).toMatchObject({ method: 'dense', errorBound: 0 });
    expect(short.reason).toBe(`one block holds ${128 + 2 * short.bandWidth} keys, all of 97`);
    const long = await attend(cutConversation(1009), RING_ATTENTION_DEFAULTS);
    expect(long).toMatchObject({
      method: 'banded',
      reason: `a band of ${2 * long.bandWidth + 1} among 1009 turns`,
    });
    expect(long.errorBound).toBeGreaterThan(0);
    for (const [result, turns] of [
      [short, 97],
      [long, 1009],
    ] as const)
      expect(findWorstRowError(result.output, cutConversation(turns), RING_ATTENTION_DEFAULTS, SAMPLE)).toBeLessThan(
        5e-5,
      );
  });

  test('a coarser tolerance looks at fewer keys', async () => {
    const fine = await attend(cutConversation(1009), RING_ATTENTION_DEFAULTS, { tolerance: 1e-8 });
    const coarse = await attend(cutConversation(1009), RING_ATTENTION_DEFAULTS, { tolerance: 1e-2 });
    expect(coarse.bandWidth).toBeLessThan(fine.bandWidth);
    expect(coarse.errorBound).toBeGreaterThan(fine.errorBound);
  });

  test('nothing is left out where nothing fades, or where no error is allowed', async () => {
    const still = await attend(cutConversation(1009), { ...RING_ATTENTION_DEFAULTS, decay: 0 });
    expect(still).toMatchObject({ method: 'dense', bandWidth: 504, errorBound: 0 });
    const exact = await attend(cutConversation(1009), RING_ATTENTION_DEFAULTS, { tolerance: 0 });
    expect(exact).toMatchObject({ method: 'dense', errorBound: 0 });
  });

  test.each([-1, Number.NaN])('refuses the tolerance %d', async (tolerance) => {
    await expect(attend(cutConversation(11), RING_ATTENTION_DEFAULTS, { tolerance })).rejects.toThrow(
      `tolerance is negative: ${tolerance}`,
    );
  });

  test.each([0, -3, 2.5, Number.NaN])('refuses %d turns', async (turns) => {
    await expect(attend({ ...cutConversation(11), turns }, RING_ATTENTION_DEFAULTS)).rejects.toThrow(`${turns}`);
  });

  test.each([
    [
      'position of query 1 is out of range: 11; pass a position in 0 … 10',
      { queries: numbers.subarray(0, 2 * D), queryRingPositions: Int32Array.of(0, 11) },
    ],
    [
      'position of query 0 is out of range: -1; pass a position in 0 … 10',
      { queries: numbers.subarray(0, D), queryRingPositions: Int32Array.of(-1) },
    ],
    [
      'queries: expected 2 rows of one width',
      { queries: numbers.subarray(0, 2 * D + 1), queryRingPositions: Int32Array.of(0, 1) },
    ],
    [
      'keys: expected 11 rows of 6, got 33 numbers',
      { queries: numbers.subarray(0, 6), queryRingPositions: Int32Array.of(0) },
    ],
    ['keyMask: expected 11, got 10', { keyMask: new Uint8Array(10) }],
    ['mask: expected 121, got 11', { mask: new Uint8Array(11) }],
  ])('refuses, without a leak: %s', async (message, changed) => {
    const before = tf.memory().numTensors;
    await expect(attend({ ...cutConversation(11), ...changed }, RING_ATTENTION_DEFAULTS)).rejects.toThrow(message);
    expect(tf.memory().numTensors).toBe(before);
  });

  test('says why a mask of pairs is looked at pair by pair', async () => {
    const rows = { ...cutConversation(331), mask: new Uint8Array(331 * 331).fill(1) };
    const [masked, whole] = [
      await attend(rows, RING_ATTENTION_DEFAULTS),
      await attend(cutConversation(331), RING_ATTENTION_DEFAULTS),
    ];
    expect(masked).toMatchObject({
      method: 'dense',
      reason: 'a mask of pairs is looked at pair by pair',
      errorBound: 0,
    });
    expect(whole.method).toBe('banded');
  });
});
