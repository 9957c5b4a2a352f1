import { expect, test } from 'vitest';
import { POOLING_MODES, type PoolingMode, poolTokens } from './model-settings.ts';

// Three tokens of dimension 2.
const TOKENS = Float32Array.of(1, -2, 4, -8, 7, 1);

const EXPECTED: Readonly<Record<PoolingMode, readonly number[]>> = {
  mean: [12 / 3, -9 / 3],
  cls: [1, -2],
  max: [7, 1],
  lasttoken: [7, 1],
  weightedmean: [(1 * 1 + 2 * 4 + 3 * 7) / 6, (1 * -2 + 2 * -8 + 3 * 1) / 6],
  'mean-sqrt-length': [12 / Math.sqrt(3), -9 / Math.sqrt(3)],
};

test.each(POOLING_MODES)('%s', (mode) => {
  expect(poolTokens(TOKENS, 2, mode)).toEqual(Float32Array.from(EXPECTED[mode]));
  expect(poolTokens(TOKENS.subarray(2, 4), 2, mode)).toEqual(Float32Array.of(4, -8));
});

test('the result does not share memory with the tokens', () => {
  const tokens = TOKENS.slice();
  poolTokens(tokens, 2, 'cls').fill(0);
  expect(tokens).toEqual(TOKENS);
});
