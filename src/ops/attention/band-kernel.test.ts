import { readFileSync } from 'node:fs';
import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { createRandom } from '../../core/numbers/random.ts';
import { requirePackages } from '../../core/required-packages.harness.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { compileKernel } from '../../core/tensors/kernel-text.harness.ts';
import { viewRow } from '../../core/tensors/rows.ts';
import { COMBINATIONS } from './attention-options.cases.ts';
import { type AttentionRows, checkRows } from './attention-rows.ts';
import { BandKernel, WINDOW_STEPS } from './band-kernel.ts';
import { bandedRingAttention } from './banded-ring-attention.ts';
import { RING_ATTENTION_DEFAULTS, type RingAttentionOptions } from './options.ts';

const source = createRandom(3, 'band-kernel.test');
const drawRows = (rows: number, width: number) =>
  Float32Array.from({ length: rows * width }, () => source.drawNormal() / Math.sqrt(width));

requirePackages('wabt').test('the bytes of the kernel are those of its text', async () => {
  const compiled = await compileKernel(new URL('band-kernel.wat', import.meta.url));
  const text = readFileSync(new URL('band-kernel.ts', import.meta.url), 'utf8');
  expect(text, `set KERNEL to '${compiled}'`).toContain(`'${compiled}'`);
});

const [T, D, V, W] = [53, 11, 13, 5];

/** The positions of columns: the turns, and W more on either side, where a ring goes on. */
const COLUMNS = Array.from({ length: T + 2 * W }, (_, column) => column - W);

/** [B, T + 2 W] steps to the keys in the band and in the direction, NaN to others. */
function listBandSteps(positions: readonly number[], { topology, direction, self }: RingAttentionOptions) {
  return positions.flatMap((i) =>
    COLUMNS.map((column) => {
      const j = (column + T) % T;
      const isThere = topology === 'ring' || j === column;
      const isSeen = direction === 'none' || (direction === 'causal' ? j <= i : j >= i);
      const steps = Math.abs(i - column);
      return steps <= W && isThere && isSeen && !(self === 'exclude' && i === j) ? steps : Number.NaN;
    }),
  );
}

/** Rows at the positions of the columns. */
const takeColumns = (rows: Float32Array, width: number) =>
  Float32Array.from(COLUMNS.flatMap((column) => [...viewRow(rows, width, (column + T) % T)]));

/** Sums of weights, largest logits and weighted values by tensors. */
function computeByTensors(rows: AttentionRows, positions: readonly number[], options: RingAttentionOptions) {
  const { queryScales, keyScales } = checkRows(rows);
  const scale = (matrix: Float32Array, scales: Float64Array) =>
    matrix.map((value, at) => value * (scales[Math.floor(at / D)] as number));
  const shape: [number, number] = [positions.length, COLUMNS.length];
  const isMultiplicative = options.combine === 'multiplicative';
  const steps = listBandSteps(positions, options);
  const half = 0.5 / options.temperature;
  const fade = (d: number) => half * Math.exp(-options.decay * d);
  const slope = steps.map((d) => (Number.isNaN(d) ? 0 : isMultiplicative ? fade(d) : half));
  const offset = steps.map((d) => {
    if (Number.isNaN(d)) return isMultiplicative ? 0 : -1e30;
    return isMultiplicative ? fade(d) : half - options.decay * d;
  });
  const queries = tf.tensor2d(scale(rows.queries, queryScales), [positions.length, D]);
  const keys = tf.tensor2d(takeColumns(scale(rows.keys, keyScales), D), [COLUMNS.length, D]);
  const values = tf.tensor2d(takeColumns(rows.values, V), [COLUMNS.length, V]);
  const cosine = tf.matMul(queries, tf.transpose(keys));
  const logits = tf.add(tf.mul(cosine, tf.tensor2d(slope, shape)), tf.tensor2d(offset, shape));
  const largest = tf.max(logits, 1, true);
  const powers = tf.exp(tf.sub(logits, largest));
  const weights = (isMultiplicative ? tf.sub(powers, tf.exp(tf.neg(largest))) : powers) as tf.Tensor2D;
  return clearUnseen({
    mass: [...tf.sum(weights, 1).dataSync()],
    largest: [...largest.dataSync()],
    band: [...tf.matMul(weights, values).dataSync()],
  });
}

/** Zeros for a query that sees no key, whose row nobody reads. */
function clearUnseen({ mass, largest, band }: { mass: number[]; largest: number[]; band: number[] }) {
  const isSeen = (query: number) => (largest[query] as number) > -1e29;
  return {
    mass: mass.map((sum, query) => (isSeen(query) ? sum : 0)),
    largest,
    band: band.map((value, at) => (isSeen(Math.floor(at / V)) ? value : 0)),
  };
}

/** The same by the kernel. */
function computeByKernel(inputs: AttentionRows, options: RingAttentionOptions) {
  const rows = checkRows(inputs);
  const kernel = new BandKernel(rows, W, options);
  const found = { mass: [] as number[], largest: [] as number[], band: [] as number[] };
  const queries = { first: 0, count: rows.ringPositions.length };
  kernel.openWindow(queries);
  for (const tile of kernel.splitIntoTiles(queries)) {
    kernel.attendTile(tile);
    for (let lane = 0; lane < tile.count; lane++) {
      const { mass, largest } = kernel.readMass(lane);
      found.mass.push(mass);
      found.largest.push(largest);
      found.band.push(...kernel.finishRow(lane, new Float64Array(V), 0, 1));
    }
  }
  return clearUnseen(found);
}

describe('in every bit what tensors on wasm give', () => {
  beforeAll(() => useBackend('wasm'));
  const own = drawRows(T, D);
  const everyTurn = Array.from({ length: T }, (_, i) => i);
  const some = [0, 0, 1, 6, 7, 8, 9, 10, 31, 50, 52, 52, 52];

  test.each(COMBINATIONS)('%s', (_, options) => {
    tf.tidy(() => {
      const shared = { turns: T, queries: own, keys: own, values: drawRows(T, V) };
      expect(computeByKernel(shared, options)).toEqual(computeByTensors(shared, everyTurn, options));
      const asked = { ...shared, queries: drawRows(some.length, D), queryRingPositions: Int32Array.from(some) };
      expect(computeByKernel(asked, options)).toEqual(computeByTensors(asked, some, options));
    });
  });

  test.each([1e-4, 0.02, 5])('temperature %d', (temperature) => {
    tf.tidy(() => {
      const rows = { turns: T, queries: own, keys: own, values: drawRows(T, V) };
      for (const combine of ['multiplicative', 'additive'] as const) {
        const options = { ...RING_ATTENTION_DEFAULTS, combine, temperature };
        expect(computeByKernel(rows, options)).toEqual(computeByTensors(rows, everyTurn, options));
      }
    });
  });
});

test('calls at the same time do not disturb each other, and need no backend', async () => {
  const conversations = [7, 64].map((width) => {
    const turns = 5 * WINDOW_STEPS + width;
    const rows = drawRows(turns, width);
    return { turns, queries: rows, keys: rows, values: rows };
  });
  const attend = async (rows: AttentionRows) => (await bandedRingAttention(rows, RING_ATTENTION_DEFAULTS)).output;
  const together = await Promise.all(conversations.map(attend));
  for (const [i, rows] of conversations.entries()) expect(together[i]).toEqual(await attend(rows));
});
