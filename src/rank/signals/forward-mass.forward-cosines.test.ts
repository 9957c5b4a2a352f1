import { beforeAll, describe, expect, test } from 'vitest';
import { createRandom } from '../../core/numbers/random.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { TEST_BACKENDS } from '../../core/tensors/backends.harness.ts';
import { buildConversationTurns } from '../../model/turns/conversations.fixture.ts';
import { Corpus, listPositions } from '../../model/turns/corpus.ts';
import { RING_ATTENTION_DEFAULTS } from '../../ops/attention/options.ts';
import { createSampleWorkspace, drawSampleWorld } from './corpus.fixture.ts';
import { buildCorpusCosines } from './forward-cosines.fixture.ts';
import { type CorpusCosines, findForwardCosines } from './forward-mass.ts';
import { computeForwardWidth } from './signal-options.ts';

const D = 7;
/** More turns than two blocks of rows hold; a border is within a conversation, and one near an end. */
const LENGTHS = [1, 2, 251, 19, 307];
const corpus = buildConversationTurns(LENGTHS);
const source = createRandom(13, 'forward-cosines.test');
const embeddings = Float32Array.from({ length: corpus.size * D }, () => 3 * source.drawNormal()).fill(0, 5 * D, 6 * D);

/** Of turns by their corpus positions, in float64. */
function cosine(a: number, b: number): number {
  const [u, v] = [a, b].map((i) => [...embeddings.subarray(i * D, (i + 1) * D)]) as [number[], number[]];
  const product = u.reduce((sum, value, d) => sum + value * v[d]!, 0);
  return product === 0 ? 0 : product / Math.hypot(...u) / Math.hypot(...v);
}

const members = LENGTHS.map((length, c) =>
  Array.from({ length }, (_, i) => corpus.getPosition(`c${c}-${String(i).padStart(3, '0')}`)),
);

describe.each(TEST_BACKENDS)('on %s', (backend) => {
  beforeAll(() => useBackend(backend));

  test.each([1, 13])('W = %i: every turn has its cosines to the next W and to the first W', async (width) => {
    const cosines = await buildCorpusCosines(corpus, embeddings, width);
    let [worst, count] = [0, 0];
    const compare = (got: number | undefined, a: number, b: number) => {
      count++;
      worst = Math.max(worst, Math.abs((got ?? Number.NaN) - cosine(a, b)));
    };
    for (const [conversation, turns] of members.entries()) {
      const { width: own, next, first } = cosines[conversation]!;
      const isFar = turns.length > width;
      const size = turns.length;
      expect([own, next.length, first.length]).toEqual([
        Math.min(width, size),
        size * (own + 1),
        isFar ? size * width : 0,
      ]);
      for (const [i, position] of turns.entries()) {
        for (const [k, later] of turns.slice(i, i + own + 1).entries())
          compare(next[i * (own + 1) + k], position, later);
        if (isFar)
          for (const [k, early] of turns.slice(0, width).entries()) compare(first[i * width + k], position, early);
      }
    }
    expect(count).toBeGreaterThan(580 * width);
    expect(worst).toBeLessThan(1e-6);
  });
});

test('the cosines of a conversation are computed once', async () => {
  const world = drawSampleWorld(3, 23, 3, 2);
  const workspace = createSampleWorkspace(world);
  const [one, other] = [listPositions(workspace.corpus, 0), listPositions(workspace.corpus, 1)];
  const first = [...(await findForwardCosines(workspace, one, 2))];
  const both = [...(await findForwardCosines(workspace, Int32Array.of(-1, ...one, ...other), 2))];
  workspace.dispose();
  const listFound = (cosines: CorpusCosines) => [...cosines.keys()].filter((place) => cosines[place] !== undefined);
  expect([...listFound(first), ...listFound(both)]).toEqual([0, 0, 1]);
  expect(both[0]).toBe(first[0]);
});

describe('the width', () => {
  const fading = { combine: 'multiplicative', decay: 0.5, temperature: 0.1 } as const;

  // e^(e^(-decay W) / temperature) - 1 <= tolerance
  test('is what the tolerance asks for', () => {
    expect(computeForwardWidth(corpus, fading)).toBe(28);
    expect(computeForwardWidth(corpus, fading, 1e-2)).toBe(14);
  });

  test('is at most the turns of the longest conversation, and at least 1', () => {
    expect(computeForwardWidth(corpus, { ...fading, decay: 0 })).toBe(307);
    expect(computeForwardWidth(buildConversationTurns([2, 19, 5]), fading)).toBe(19);
    expect(computeForwardWidth(new Corpus([]), fading)).toBe(1);
  });
});

test('the width is at most the longest conversation, and a tolerance of 0 is refused', () => {
  expect(computeForwardWidth(buildConversationTurns([1]), RING_ATTENTION_DEFAULTS)).toBe(1);
  expect(() => computeForwardWidth(corpus, RING_ATTENTION_DEFAULTS, 0)).toThrow(
    /tolerance of a band is not positive: 0/,
  );
});
