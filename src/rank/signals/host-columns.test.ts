import * as tf from '@tensorflow/tfjs-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRandom } from '../../core/numbers/random.ts';
import { measureCost } from '../../core/tensors/active-backend.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { TEST_BACKENDS } from '../../core/tensors/backends.harness.ts';
import { MASKED } from '../../ops/attention/options.ts';
import { COORDINATES } from '../../ops/trajectory/coordinate-names.ts';
import type { QueryFrames } from '../../ops/trajectory/query-frames.ts';
import { scoreBatch } from './attention-columns.ts';
import { computeHostColumn, fillAttention, fillDistances, fillTrajectory } from './host-columns.ts';
import { attentionOptions, TRAJECTORY_DEFAULTS } from './signal-options.ts';
import { type Column, computeColumn, type PoolRows, uploadBatch } from './stage.ts';
import { measureBatch } from './trajectory-columns.ts';
import { trajectoryScore } from './trajectory-score.ts';

/** Rows of all lengths from 0 on, but for those of one candidate. */
function drawRows(queryCount: number, width: number): PoolRows {
  const positions = Int32Array.from({ length: queryCount * width }, (_, pair) =>
    width === 1 || pair % width < Math.floor(pair / width) % (width + 1) ? pair : -1,
  );
  return { queryCount, width, positions };
}

/** Numbers of few values, so that many scores are equal, and random ones. */
function drawNumbers(count: number, name: string, most = 1): Float32Array {
  const random = createRandom(11, name);
  return Float32Array.from(
    { length: count },
    (_, i) => (i % 3 === 0 ? random.uniform() : random.integer(5) / 4) * most,
  );
}

function drawFrames({ positions }: PoolRows, dimensions: 3 | 5 | 7): QueryFrames {
  const names = COORDINATES[dimensions];
  const drawIntegers = (name: string, most: number) => drawNumbers(positions.length, name, most).map(Math.round);
  return {
    names,
    candidates: drawNumbers(positions.length * dimensions, 'candidates'),
    queries: drawNumbers(positions.length * dimensions, 'queries'),
    turns: new Int32Array(positions.length),
    ringPositions: new Int32Array(positions.length),
    ringDistances: drawIntegers('ring', 40),
    lineDistances: drawIntegers('line', 90),
    coldStart: Uint8Array.from(drawIntegers('cold', 1)),
  };
}

const CASES = (['rcp', 'ircp', 'tpo', 'unified'] as const).flatMap((mechanism) =>
  (['literal', 'directed'] as const).flatMap((mode) =>
    (['multiplicative', 'additive'] as const).map((combine) => ({ mechanism, mode, combine })),
  ),
);

describe.each(TEST_BACKENDS)('loops of the host beside tensors on %s', (backend) => {
  let before: number;
  beforeAll(async () => {
    await useBackend(backend);
    before = tf.memory().numTensors;
  });
  afterAll(() => expect(tf.memory().numTensors).toBe(before));

  /** The same bits as wasm; cpu rounds functions another way. */
  function expectSame(found: Column, expected: Column): void {
    if (backend === 'wasm') expect(found).toEqual(expected);
    expect(found.length).toBe(expected.length);
    for (const [i, value] of expected.entries())
      if (!(Math.abs(found[i]! - value) <= 1e-5 + 1e-4 * Math.abs(value))) expect([i, found[i]]).toEqual([i, value]);
  }

  describe.each([
    [23, 19],
    [5, 1],
    [1, 7],
    [0, 3],
  ])('%i queries, %i candidates', (queries, width) => {
    const pool = drawRows(queries, width);

    test.each([3, 5, 7] as const)('trajectory in %i dimensions', async (dimensions) => {
      const frames = drawFrames(pool, dimensions);
      const options = { ...TRAJECTORY_DEFAULTS, dimensions, sigma: 0.7 };
      const weights = COORDINATES[dimensions].map((_, i) => 0.3 * (i + 1));
      const named = { ...options, weights: Object.fromEntries(frames.names.map((name, i) => [name, weights[i]])) };
      const expected = await computeColumn(pool, (batch) => measureBatch(frames, batch, named));
      const distances = await computeHostColumn(pool, fillDistances(frames, weights));
      expectSame(distances, expected);
      expectSame(
        await computeHostColumn(pool, fillTrajectory(distances, options.sigma)),
        await computeColumn(pool, (batch) => trajectoryScore(uploadBatch(distances, batch), options.sigma)),
      );
    });

    test.each(CASES)('$mechanism, $mode, $combine', async (chosen) => {
      const options = attentionOptions.parse({ ...chosen, decay: 0.4, temperature: 0.13 });
      const size = pool.positions.length;
      const inputs = {
        steps: drawFrames(pool, 3).ringDistances,
        cosine: drawNumbers(size, 'cosine').map((value, pair) => (pool.positions[pair]! < 0 ? MASKED : value - 0.4)),
        logMasses: chosen.mode === 'directed' ? drawNumbers(size, 'masses', 6) : undefined,
        distances: ['tpo', 'unified'].includes(chosen.mechanism) ? drawNumbers(size, 'distances', 2) : null,
      };
      const { result, own } = await measureCost(() =>
        computeColumn(pool, (batch) => scoreBatch(inputs, batch, options)),
      );
      expectSame(await computeHostColumn(pool, fillAttention(inputs, options)), result);
      if (queries > 0) expect(own.launches).toBeGreaterThan(4);
      expect(own.launches).toBeLessThan(24);
    });
  });
});
