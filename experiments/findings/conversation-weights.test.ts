import { beforeAll, expect, test } from 'vitest';
import { useBackend } from '../../src/core/tensors/backend.ts';
import { RING_ATTENTION_DEFAULTS } from '../../src/ops/attention/options.ts';
import { spreadRingPositions, weightMatrix, weightRows } from './conversation-weights.ts';
import { buildHandmadeMeasured, computeHandmadeWeights, splitMatrixRows, WIDTH } from './measured-corpus.fixture.ts';

beforeAll(() => useBackend('wasm'));

const TURNS = 17;
const vectors = buildHandmadeMeasured().embeddings.slice(0, TURNS * WIDTH);
const conversation = { turns: TURNS, vectors };

function expectRows(weights: Float32Array, expected: readonly number[][]): void {
  expect(weights.length).toBe(expected.length * TURNS);
  for (const [at, weight] of expected.flat().entries()) expect(weights[at]).toBeCloseTo(weight, 6);
}

test('chosen rows are those of the definition', async () => {
  const exact = computeHandmadeWeights(splitMatrixRows(vectors, WIDTH));
  const rows = await weightRows(conversation, 'causal', RING_ATTENTION_DEFAULTS, [11, 0, 16]);
  expectRows(
    rows,
    [11, 0, 16].map((place) => exact[place] as number[]),
  );
});

test('on the inverse ring, what looks back looks ahead', async () => {
  const looksBack = { ...RING_ATTENTION_DEFAULTS, direction: 'causal' } as const;
  const exact = computeHandmadeWeights(splitMatrixRows(vectors, WIDTH), { looks: 'ahead' });
  expectRows(await weightMatrix(conversation, 'inverse', looksBack), exact);
});

test('places are spread from the first to the last', () => {
  expect(spreadRingPositions(101, 3)).toEqual([0, 50, 100]);
  expect(spreadRingPositions(3, 101)).toEqual([0, 1, 2]);
  expect(spreadRingPositions(1, 5)).toEqual([0]);
});
