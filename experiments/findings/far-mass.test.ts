import { beforeAll, expect, test } from 'vitest';
import { useBackend } from '../../src/core/tensors/backend.ts';
import { RING_ATTENTION_DEFAULTS } from '../../src/ops/attention/options.ts';
import { measureFarMasses, measureFarShares } from './far-mass.ts';
import { buildHandmadeMeasured, computeHandmadeWeights, splitMatrixRows, WIDTH } from './measured-corpus.fixture.ts';
import { findingsSettings } from './settings.ts';

beforeAll(() => useBackend('wasm'));

const measured = buildHandmadeMeasured();
const TURNS = 23;
const vectors = measured.embeddings.slice(0, TURNS * WIDTH);

/** The far share of each message, by going through all pairs. */
function computeSharesByPairs(combine: 'multiplicative' | 'additive', window: number): number[] {
  return computeHandmadeWeights(splitMatrixRows(vectors, WIDTH), { combine }).map((row, i) =>
    row.reduce((far, weight, j) => {
      const distance = Math.min(Math.abs(i - j), TURNS - Math.abs(i - j));
      return distance > window ? far + weight : far;
    }, 0),
  );
}

test.each(['multiplicative', 'additive'] as const)('%s: the weights beyond each window', async (combine) => {
  const options = { ...RING_ATTENTION_DEFAULTS, combine };
  const shares = await measureFarShares(
    [{ turns: TURNS, vectors }],
    { windows: [2, 7, 11], sampledMessages: 3 },
    options,
  );
  for (const [w, window] of [2, 7].entries()) {
    const exact = computeSharesByPairs(combine, window);
    expect(shares[w]).toBeCloseTo(((exact[0] as number) + (exact[11] as number) + (exact[22] as number)) / 3, 6);
  }
  expect(shares[2]).toBeNull(); // 11 steps are half of the ring
});

test('threads that a window covers do not count for it', async () => {
  const long = { turns: TURNS, vectors };
  const short = { turns: 5, vectors: vectors.subarray(0, 5 * WIDTH) };
  const settings = { windows: [2], sampledMessages: TURNS };
  const both = await measureFarShares([short, long], settings, RING_ATTENTION_DEFAULTS);
  expect(both).toEqual(await measureFarShares([long], settings, RING_ATTENTION_DEFAULTS));
});

test('the longest threads, the beginnings that there are, and everything', async () => {
  const settings = findingsSettings.parse({ windows: [2], prefixes: [11, 24, 1000] });
  const masses = await measureFarMasses(measured, settings);
  const names = ['longest threads, 13 messages', 'first 11 messages', 'all 24 messages'];
  expect(masses.map(({ conversation }) => conversation)).toEqual([...names, ...names]);
  expect(masses.map(({ self }) => self)).toEqual([...Array(3).fill('include'), ...Array(3).fill('exclude')]);
  for (const { multiplicative, additive } of masses) expect(multiplicative).not.toEqual(additive);
});
