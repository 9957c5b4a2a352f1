import * as tf from '@tensorflow/tfjs-core';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { createRandom } from '../../core/numbers/random.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { TEST_BACKENDS } from '../../core/tensors/backends.harness.ts';
import { COMBINATIONS } from './attention-options.cases.ts';
import { computeReferenceRow, findWorstRowError } from './attention-row.oracle.ts';
import type { AttentionRows } from './attention-rows.ts';
import { bandedRingAttention } from './banded-ring-attention.ts';
import { blockwiseRingAttention } from './blockwise-ring-attention.ts';
import { RING_ATTENTION_DEFAULTS } from './options.ts';

const [D, V] = [7, 5];

/** Rows of length 1, some of them zero, some copies of the row before. */
function drawUnitRowsWithCopies(turns: number, width: number, seed: number, name: string): Float32Array {
  const source = createRandom(seed, `banded-ring-attention.test/${name}`);
  const rows = new Float32Array(turns * width);
  for (let row = 0; row < turns; row++) {
    const kind = source.integer(11);
    const numbers = Array.from({ length: width }, () => source.drawNormal());
    if (kind === 0 && row > 0) rows.copyWithin(row * width, (row - 1) * width, row * width);
    else if (kind !== 1)
      rows.set(
        numbers.map((x) => x / Math.hypot(...numbers)),
        row * width,
      );
  }
  return rows;
}

function drawAttentionRows(turns: number, seed: number, shared: boolean): AttentionRows {
  const keys = drawUnitRowsWithCopies(turns, D, seed, 'keys');
  const queries = shared ? keys : drawUnitRowsWithCopies(turns, D, seed, 'queries');
  return { turns, queries, keys, values: shared ? keys : drawUnitRowsWithCopies(turns, V, seed, 'values') };
}

const numberRows = (turns: number) => Array.from({ length: turns }, (_, i) => i);

/** What float32 makes of cosines near 1, divided by the temperature, in a row of length 1. */
const boundRounding = (temperature: number) => 1e-6 + 2e-6 / temperature;

const OPTIONS = fc.record({
  topology: fc.constantFrom('ring' as const, 'line' as const),
  direction: fc.constantFrom('none' as const, 'causal' as const, 'anticausal' as const),
  combine: fc.constantFrom('multiplicative' as const, 'additive' as const),
  self: fc.constantFrom('include' as const, 'exclude' as const),
  decay: fc.oneof(fc.constant(0), ...Array.from({ length: 9 }, () => fc.double({ min: 0.1, max: 4, noNaN: true }))),
  temperature: fc.double({ min: 0.02, max: 3, noNaN: true }),
});

describe.each(TEST_BACKENDS)('on %s', (backend) => {
  beforeAll(() => useBackend(backend));

  test('random conversations, options and tolerances stay within the proven bound', async () => {
    const runs = backend === 'webgpu' ? 16 : 80; // a run takes a third of a second on Vulkan in software
    const methods = { banded: 0, dense: 0 };
    const parameters = [
      fc.noBias(fc.integer({ min: 1, max: 409 })),
      fc.nat(),
      fc.boolean(),
      fc.noBias(OPTIONS),
      fc.constantFrom(0.3, 1e-2, 1e-4, 1e-6),
    ] as const;
    await fc.assert(
      fc.asyncProperty(...parameters, async (turns, seed, shared, options, tolerance) => {
        const rows = drawAttentionRows(turns, seed, shared);
        const result = await bandedRingAttention(rows, options, { tolerance });
        methods[result.method]++;
        expect(result.errorBound).toBeLessThanOrEqual(tolerance);
        expect(result.method).toBe(2 * result.bandWidth + 1 >= turns ? 'dense' : 'banded');
        const error = findWorstRowError(result.output, rows, options, numberRows(turns));
        expect(error).toBeLessThanOrEqual(result.errorBound + boundRounding(options.temperature));
      }),
      { seed: 5, numRuns: runs },
    );
    expect(methods.banded).toBeGreaterThan((3 / 8) * runs);
    expect(methods.dense).toBeGreaterThan(runs / 16);
  });

  test.each(COMBINATIONS)('%s', async (_, options) => {
    const rows = drawAttentionRows(229, 3, false);
    const [banded, dense] = [await bandedRingAttention(rows, options), await blockwiseRingAttention(rows, options)];
    expect(banded.method).toBe('banded');
    expect(findWorstRowError(banded.output, rows, options, numberRows(229))).toBeLessThan(2e-6 + boundRounding(0.1));
    expect(findWorstRowError(dense, rows, options, numberRows(229))).toBeLessThan(boundRounding(0.1));
  });

  test('one turn, two turns, and nothing to see', async () => {
    for (const [, options] of COMBINATIONS) {
      for (const turns of [1, 2]) {
        const rows = drawAttentionRows(turns, 2, false);
        const { output, method } = await bandedRingAttention(rows, options);
        expect(method).toBe('dense');
        expect(findWorstRowError(output, rows, options, numberRows(turns))).toBeLessThan(boundRounding(0.1));
        const first = [...output.subarray(0, V)];
        if (options.self === 'exclude' && (turns === 1 || options.direction === 'causal'))
          expect(first).toEqual(Array(V).fill(0));
      }
    }
  });

  test.each([1e-4, 1e-30])('temperature %d does not overflow: the nearest of the like wins', async (temperature) => {
    for (const [, { combine, self, direction, topology }] of COMBINATIONS) {
      const rows = drawAttentionRows(211, 4, true);
      const options = { combine, self, direction, topology, decay: 3000, temperature };
      const { output } = await bandedRingAttention(rows, options);
      expect(output.every(Number.isFinite)).toBe(true);
      if (self === 'include' && combine === 'multiplicative')
        expect([...output.subarray(0, D)]).toEqual([...rows.values.subarray(0, D)]);
    }
  });

  test('zero vectors alone', async () => {
    const keys = new Float32Array(307 * D);
    const rows = { turns: 307, queries: keys, keys, values: drawUnitRowsWithCopies(307, V, 1, 'values') };
    const { output, method } = await bandedRingAttention(rows, RING_ATTENTION_DEFAULTS);
    expect(method).toBe('banded');
    expect(findWorstRowError(output, rows, RING_ATTENTION_DEFAULTS, numberRows(307))).toBeLessThan(boundRounding(0.1));
  });

  test('a suffix sum is not affected by large values that it no longer holds', async () => {
    const rows = drawAttentionRows(307, 6, false);
    for (let d = 0; d < V; d++) rows.values[d] = 1e20;
    const options = { ...RING_ATTENTION_DEFAULTS, direction: 'anticausal', topology: 'line' } as const;
    const { output } = await bandedRingAttention(rows, options);
    expect(findWorstRowError(output, rows, options, numberRows(307).slice(1))).toBeLessThan(2e-6 + boundRounding(0.1));
  });

  test('many blocks: right, the same bytes again, and nothing leaks', async () => {
    const rows = drawAttentionRows(1009, 8, true);
    const before = tf.memory().numTensors;
    const [once, again] = [
      await bandedRingAttention(rows, RING_ATTENTION_DEFAULTS),
      await bandedRingAttention(rows, RING_ATTENTION_DEFAULTS),
    ];
    const sample = numberRows(1009).filter((i) => i % 13 === 0);
    expect(findWorstRowError(once.output, rows, RING_ATTENTION_DEFAULTS, sample)).toBeLessThan(boundRounding(0.1));
    expect(once).toEqual(again);
    expect(tf.memory().numTensors).toBe(before);
  });

  test.each([
    ['number of turns is not a positive integer: 0', { turns: 0 }],
    ['number of turns is not a positive integer: 1.5', { turns: 1.5 }],
    ['keys: expected 11 rows of 7, got 70 numbers', { keys: new Float32Array(70) }],
    ['values: expected 11 rows of one width, got 56 numbers', { values: new Float32Array(56) }],
    ['queries is not finite at row 1: NaN', { queries: new Float32Array(77).fill(Number.NaN, 13, 14) }],
    ['values is not finite at row 2: Infinity', { values: new Float32Array(55).fill(1 / 0, 14, 15) }],
  ])('refuses, without a leak: %s', async (message, changed) => {
    const before = tf.memory().numTensors;
    await expect(
      bandedRingAttention({ ...drawAttentionRows(11, 1, false), ...changed }, RING_ATTENTION_DEFAULTS),
    ).rejects.toThrow(message);
    expect(tf.memory().numTensors).toBe(before);
  });
});

test('the reference agrees with figures by hand', () => {
  // Two turns one step apart, alike: additive logits 1 / 2 and 1 / 2 - ln 3, so weights 3/4 and 1/4.
  const keys = Float32Array.of(1, 0, 2, 0);
  const rows = { turns: 2, queries: keys, keys, values: Float32Array.of(4, 8) };
  const options = { ...RING_ATTENTION_DEFAULTS, combine: 'additive', temperature: 2, decay: Math.log(3) } as const;
  expect(computeReferenceRow(rows, options, 0)[0]).toBeCloseTo(5, 12);
  expect(computeReferenceRow(rows, options, 1)[0]).toBeCloseTo(7, 12);
  expect(computeReferenceRow(rows, { ...options, direction: 'causal', self: 'exclude' }, 0)[0]).toBe(0);
  expect(computeReferenceRow(rows, { ...options, direction: 'causal', self: 'exclude' }, 1)[0]).toBe(4);
});
