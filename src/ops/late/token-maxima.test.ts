import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { createRandom } from '../../core/numbers/random.ts';
import { requirePackages } from '../../core/required-packages.harness.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { compileKernel } from '../../core/tensors/kernel-text.harness.ts';
import { computeTokenMaxima } from './late-interaction.ts';
import { computeByteMaxima } from './token-maxima.ts';

requirePackages('wabt').test('the bytes of the kernel are those of its text', async () => {
  const compiled = await compileKernel(new URL('token-maxima.wat', import.meta.url));
  const source = readFileSync(new URL('token-maxima.ts', import.meta.url), 'utf8');
  expect(source, `set KERNEL to '${compiled}'`).toContain(`'${compiled}'`);
});

interface Drawn {
  readonly lengths: readonly number[];
  readonly tokens: number;
  readonly dimension: number;
  readonly seed: number;
}

function draw({ lengths, tokens, dimension, seed }: Drawn) {
  const random = createRandom(seed, 'bytes');
  const starts = Int32Array.of(0, ...lengths);
  for (let i = 1; i < starts.length; i++) starts[i]! += starts[i - 1]!;
  const size = starts.at(-1)!;
  const vectors = Int8Array.from({ length: size * dimension }, () => random.integer(255) - 127);
  const scales = Float32Array.from({ length: size }, () => random.uniform() / 127);
  const question = Float32Array.from({ length: tokens * dimension }, () => random.drawNormal());
  return { turns: { vectors, scales, starts, dimension }, question };
}

/** In float64. */
function multiply({ turns: { vectors, scales, starts, dimension }, question }: ReturnType<typeof draw>): number[] {
  const tokens = question.length / dimension;
  return Array.from({ length: (starts.length - 1) * tokens }, (_, at) => {
    const [turn, t] = [Math.floor(at / tokens), at % tokens];
    let most = Number.NaN;
    for (let s = starts[turn]!; s < starts[turn + 1]!; s++) {
      let sum = 0;
      for (let d = 0; d < dimension; d++) sum += vectors[s * dimension + d]! * question[t * dimension + d]!;
      if (!(sum * scales[s]! <= most)) most = sum * scales[s]!;
    }
    return most;
  });
}

test('a maximum is the largest product with a token of the turn, for any sizes', () => {
  const sizes = fc.record({
    lengths: fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 1, maxLength: 6 }),
    tokens: fc.integer({ min: 1, max: 9 }),
    dimension: fc.integer({ min: 1, max: 40 }),
    seed: fc.integer({ min: 0, max: 1000 }),
  });
  fc.assert(
    fc.property(sizes, (drawn) => {
      const given = draw(drawn);
      const found = computeByteMaxima(given.turns, given.question);
      for (const [i, value] of multiply(given).entries())
        if (Number.isNaN(value)) expect(found[i]).toBeNaN();
        else expect(Math.abs(found[i]! - value)).toBeLessThan(2e-4 * drawn.dimension ** 0.5);
    }),
  );
});

test('the largest numbers do not overflow, and a row of zeros is 0', () => {
  for (const dimension of [384, 768, 4096]) {
    const turns = {
      vectors: new Int8Array(2 * dimension).fill(-127),
      scales: Float32Array.of(1 / 127, 1 / 127),
      starts: Int32Array.of(0, 1, 2),
      dimension,
    };
    turns.vectors.fill(0, dimension);
    const question = new Float32Array(2 * dimension).fill(-0.5);
    question.fill(0, dimension);
    const [first, ...others] = computeByteMaxima(turns, question);
    expect(first! / (dimension / 2)).toBeCloseTo(1, 4);
    expect(others.map((value) => value + 0)).toEqual([0, 0, 0]);
  }
});

test('what the kernel gives is what tensors give, and of a question in 8 bits to the rounding of float32', async () => {
  await useBackend('wasm');
  const { turns, question } = draw({ lengths: [35, 0, 7, 40], tokens: 13, dimension: 384, seed: 3 });
  const largest = (row: Float32Array) => row.reduce((max, value) => Math.max(max, Math.abs(value)), 0);
  for (let t = 0; t < 13; t++) {
    const row = question.subarray(t * 384, (t + 1) * 384);
    const scale = largest(row) / 127;
    for (let d = 0; d < 384; d++) row[d] = scale * Math.round(row[d]! / scale);
  }
  const byKernel = await computeTokenMaxima(turns, question);
  const byTensors = await computeTokenMaxima({ ...turns, vectors: Float32Array.from(turns.vectors) }, question);
  expect(byKernel).toEqual(computeByteMaxima(turns, question));
  for (const [i, value] of byTensors.entries())
    if (Number.isNaN(value)) expect(byKernel[i]).toBeNaN();
    else expect(Math.abs(byKernel[i]! - value)).toBeLessThan(2e-5);
});
