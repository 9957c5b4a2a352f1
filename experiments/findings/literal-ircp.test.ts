import { beforeAll, expect, test } from 'vitest';
import { useBackend } from '../../src/core/tensors/backend.ts';
import { measureReversalEffects } from './literal-ircp.ts';
import { buildHandmadeMeasured, computeHandmadeWeights, splitMatrixRows, WIDTH } from './measured-corpus.fixture.ts';
import { gatherMessageVectors } from './measured-corpus.ts';

beforeAll(() => useBackend('wasm'));

const measured = buildHandmadeMeasured();

/** The greatest difference of each message between looking both ways and looking ahead. */
function computeLiteralGaps(lengths: readonly number[], self: 'include' | 'exclude'): number[] {
  const threads = measured.conversations.filter(({ length }) => lengths.includes(length));
  return threads.flatMap((positions) => {
    const rows = splitMatrixRows(gatherMessageVectors(measured, positions), WIDTH);
    const ahead = computeHandmadeWeights(rows, { self, looks: 'ahead' });
    return computeHandmadeWeights(rows, { self }).map((row, i) =>
      Math.max(...row.map((weight, j) => Math.abs(weight - (ahead[i]?.[j] as number)))),
    );
  });
}

test('reversing the ring changes no weight, looking one way only does', async () => {
  const effects = await measureReversalEffects(measured);
  expect(effects.map(({ self, lengths, threads, messages }) => [self, lengths, threads, messages])).toEqual(
    ['include', 'exclude'].flatMap((self) => [
      [self, '2', 1, 2],
      [self, '3', 1, 3],
      [self, '5', 1, 5],
      [self, '13', 1, 13],
    ]),
  );
  for (const { self, lengths, literal, directed } of effects) {
    expect(literal).toEqual({ greatest: 0, mean: 0 });
    const expected = computeLiteralGaps([Number(lengths)], self);
    expect(directed.greatest).toBeCloseTo(Math.max(...expected), 6);
    expect(directed.mean).toBeCloseTo(expected.reduce((a, b) => a + b, 0) / expected.length, 6);
    expect(directed.greatest).toBeGreaterThan(directed.mean);
  }
});
