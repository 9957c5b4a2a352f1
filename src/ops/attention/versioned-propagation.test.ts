import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { createRandom } from '../../core/numbers/random.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { TEST_BACKENDS } from '../../core/tensors/backends.harness.ts';
import { gatherRows, viewRow } from '../../core/tensors/rows.ts';
import type { Conversation } from '../../model/turns/conversation.ts';
import { buildConversationTurns } from '../../model/turns/conversations.fixture.ts';
import { Corpus, findLowerBound, listPositions } from '../../model/turns/corpus.ts';
import { propagateReference } from './attention-row.oracle.ts';
import { PROPAGATION_PRESETS, type PropagationOptions } from './options.ts';
import { propagateAtMoments } from './propagated-rows.ts';
import { type PropagatedVersions, propagateVersions } from './versioned-propagation.ts';

const D = 7;
const LENGTHS = [1, 2, 5, 13, 59];
const source = createRandom(8, 'versioned-propagation.test');
const corpus = buildConversationTurns(LENGTHS, () => 1000 * source.integer(997));
const rows = Array.from({ length: corpus.size }, () => {
  const row = Array.from({ length: D }, () => source.drawNormal());
  return row.map((x) => x / Math.hypot(...row));
});
rows[13] = Array(D).fill(0);
const embeddings = Float32Array.from(rows.flat());
const cutoffs = Int32Array.from({ length: 19 }, () => source.integer(corpus.size + 1));

/** Places and vectors of a conversation's turns before a cutoff, by the cutoff and conversation. */
const prefixes = [...cutoffs].flatMap((cutoff) =>
  LENGTHS.map((_, conversation) => {
    const members = [...corpus.turns.keys()].filter(
      (position) => position < cutoff && corpus.conversationOf[position] === conversation,
    );
    return { cutoff, members, vectors: gatherRows(embeddings, D, members) };
  }),
);

function findWorstVersion(
  { positions, validFrom, validTo, vectors }: PropagatedVersions,
  options: PropagationOptions,
): number {
  const versionsOf = corpus.turns.map((_, position) => [...positions.keys()].filter((i) => positions[i] === position));
  let worst = 0;
  for (const { cutoff, members, vectors: prefix } of prefixes) {
    for (const [place, position] of members.entries()) {
      const expected = propagateReference(prefix, members.length, options, place);
      const isValid = (i: number) => (validFrom[i] as number) <= cutoff && cutoff < (validTo[i] as number);
      const valid = (versionsOf[position] as number[]).filter(isValid);
      expect(valid).toHaveLength(1);
      for (let d = 0; d < D; d++)
        worst = Math.max(worst, Math.abs((expected[d] as number) - (vectors[(valid[0] as number) * D + d] as number)));
    }
  }
  return worst;
}

const CASES: readonly (readonly [string, PropagationOptions])[] = [
  ['framework', PROPAGATION_PRESETS.framework],
  ['framework, causal ring', { ...PROPAGATION_PRESETS.framework, direction: 'causal' }],
  ['framework, anticausal ring', { ...PROPAGATION_PRESETS.framework, direction: 'anticausal' }],
  ['framework, line', { ...PROPAGATION_PRESETS.framework, topology: 'line' }],
  ['published', PROPAGATION_PRESETS.published],
  ['published, causal line', { ...PROPAGATION_PRESETS.published, topology: 'line', direction: 'causal' }],
];

describe.each(TEST_BACKENDS)('on %s', (backend) => {
  beforeAll(() => useBackend(backend));

  test.each(CASES)('%s: every turn at every cutoff equals the whole propagation of its prefix', async (_, options) => {
    const before = tf.memory().numTensors;
    const versions = await propagateVersions(corpus, embeddings, cutoffs, options);
    expect(tf.memory().numTensors).toBe(before);
    expect(findWorstVersion(versions, options)).toBeLessThan(2e-5);
  });

  test('so it does in batches of a few versions', async () => {
    const options = PROPAGATION_PRESETS.published;
    const versions = await propagateVersions(corpus, embeddings, cutoffs, options, { batchNumbers: 331 });
    expect(findWorstVersion(versions, options)).toBeLessThan(2e-5);
  });
});

test('on wasm a row is the same in every bit, whatever shares its block', async () => {
  await useBackend('wasm');
  for (const options of Object.values(PROPAGATION_PRESETS)) {
    const whole = await propagateVersions(corpus, embeddings, cutoffs, options);
    for (const [conversation, { turns }] of corpus.conversations.entries()) {
      const positions = listPositions(corpus, conversation);
      const alone = new Corpus(turns);
      const own = await propagateVersions(
        alone,
        gatherRows(embeddings, D, positions),
        cutoffs.map((cutoff) => findLowerBound(positions, cutoff)),
        options,
      );
      const shared = [...whole.positions.keys()].filter(
        (i) => corpus.conversationOf[whole.positions[i]!] === conversation,
      );
      expect(gatherRows(whole.vectors, D, shared)).toEqual(own.vectors);
    }
  }
});

describe('which versions there are', () => {
  beforeAll(() => useBackend('cpu'));
  const all = Int32Array.from({ length: corpus.size + 1 }, (_, c) => c);
  const count = async (options: PropagationOptions, at: Int32Array, tolerance?: number) =>
    (await propagateVersions(corpus, embeddings, at, options, tolerance === undefined ? {} : { tolerance })).positions
      .length;
  const triangle = LENGTHS.reduce((sum, n) => sum + (n * (n + 1)) / 2, 0);

  test('all of them where far turns never fade', async () => {
    expect(await count(PROPAGATION_PRESETS.published, all)).toBe(triangle);
  });

  test('those within reach of a newcomer where they do, fewer the less is asked', async () => {
    const fine = await count(PROPAGATION_PRESETS.framework, all);
    const coarse = await count(PROPAGATION_PRESETS.framework, all, 1e-2);
    expect(fine).toBeLessThan(triangle);
    expect(coarse).toBeLessThan(fine);
  });

  test('one a turn where no later turn matters', async () => {
    expect(await count({ ...PROPAGATION_PRESETS.published, topology: 'line', direction: 'causal' }, all)).toBe(
      corpus.size,
    );
  });

  test('only those that a cutoff needs', async () => {
    const { positions, validFrom } = await propagateVersions(
      corpus,
      embeddings,
      Int32Array.of(41),
      PROPAGATION_PRESETS.framework,
    );
    expect([...positions].sort((a, b) => a - b)).toEqual(Array.from({ length: 41 }, (_, i) => i));
    expect([...validFrom]).toEqual([...validFrom].sort((a, b) => a - b));
    expect(await count(PROPAGATION_PRESETS.framework, new Int32Array(0))).toBe(0);
    expect(await count(PROPAGATION_PRESETS.framework, Int32Array.of(0))).toBe(0);
  });

  test('a row does not depend on the other cutoffs', async () => {
    for (const options of Object.values(PROPAGATION_PRESETS)) {
      const whole = await propagateVersions(corpus, embeddings, all, options);
      for (const cutoff of [17, 41, corpus.size]) {
        const own = await propagateVersions(corpus, embeddings, Int32Array.of(cutoff), options);
        for (const [row, position] of own.positions.entries()) {
          const same = whole.positions.findIndex(
            (other, i) => other === position && whole.validFrom[i]! <= cutoff && cutoff < whole.validTo[i]!,
          );
          expect(viewRow(own.vectors, D, row)).toEqual(viewRow(whole.vectors, D, same));
        }
      }
    }
  });

  test('the rows of a conversation whose turns are all there are computed once, those of fewer turns are not kept', async () => {
    const now = Int32Array.of(corpus.size);
    const kept = new WeakMap<Conversation, Float32Array>();
    const options = PROPAGATION_PRESETS.framework;
    const first = await propagateVersions(corpus, embeddings, now, options, { kept });
    const again = await propagateVersions(corpus, new Float32Array(embeddings.length), now, options, { kept });
    expect(again).toEqual(first);
    expect(first.vectors).toEqual((await propagateVersions(corpus, embeddings, now, options)).vectors);
    const earlier = await propagateVersions(corpus, embeddings, Int32Array.of(41), options, { kept });
    expect(earlier.vectors).toEqual((await propagateVersions(corpus, embeddings, Int32Array.of(41), options)).vectors);
  });

  test('none for embeddings of another corpus', async () => {
    const bad = embeddings.subarray(1);
    await expect(propagateVersions(corpus, bad, all, PROPAGATION_PRESETS.framework)).rejects.toThrow(
      'embeddings of the corpus: expected 80 rows of one width, got 559 numbers',
    );
  });
});

/** All turns of a conversation, [T, D], at its end. */
function propagateAll(embeddings: tf.Tensor2D, options: PropagationOptions): tf.Tensor2D {
  const [size] = embeddings.shape;
  const moments = Array.from({ length: size }, (_, turn) => ({ start: 0, turn, size, ringPositionOf: null }));
  return propagateAtMoments(embeddings, moments, options);
}

async function propagatePlainRows(rows: number[][], options: PropagationOptions): Promise<number[][]> {
  const embeddings = tf.tensor2d(rows);
  const result = propagateAll(embeddings, options);
  const got = await result.array();
  tf.dispose([embeddings, result]);
  return got;
}

function expectRows(got: number[][], expected: number[][]): void {
  for (const [i, row] of expected.entries())
    for (const [d, value] of row.entries()) expect(got[i]?.[d]).toBeCloseTo(value, 5);
}

describe.each(TEST_BACKENDS)('on %s', (backend) => {
  beforeAll(() => useBackend(backend));

  test('mixes a turn with its neighbours, by hand', async () => {
    // Each row sees both others one step away on the ring of three. Logits: 1 for a cosine of 1, 1/2 for 0.
    const [same, other] = [Math.E, Math.exp(0.5)];
    const share = other / (same + other);
    const pair = [1 - share + 1, share].map((x) => x / Math.hypot(2 - share, share));
    expectRows(
      await propagatePlainRows(
        [
          [1, 0],
          [1, 0],
          [0, 1],
        ],
        PROPAGATION_PRESETS.framework,
      ),
      [pair, pair, [Math.SQRT1_2, Math.SQRT1_2]],
    );
  });

  test.each(Object.keys(PROPAGATION_PRESETS) as (keyof typeof PROPAGATION_PRESETS)[])(
    'a single turn stays what it is: %s',
    async (preset) => expectRows(await propagatePlainRows([[0.6, 0.8]], PROPAGATION_PRESETS[preset]), [[0.6, 0.8]]),
  );

  test('as published it moves nothing by more than a little', async () => {
    const rows = [
      [1, 0, 0],
      [0, 1, 0],
      [0, 0, 1],
    ];
    for (const [i, row] of (await propagatePlainRows(rows, PROPAGATION_PRESETS.published)).entries())
      expect(row[i]).toBeGreaterThan(0.999);
  });

  test('a zero vector takes its neighbours, zero vectors alone stay zero', async () => {
    const rows = [
      [0, 0],
      [3 / 5, 4 / 5],
    ];
    expect((await propagatePlainRows(rows, PROPAGATION_PRESETS.framework))[0]?.[1]).toBeCloseTo(0.8, 6);
    expect(await propagatePlainRows([[0, 0]], PROPAGATION_PRESETS.framework)).toEqual([[0, 0]]);
  });

  test('a few turns of many are not paid for as all of them', async () => {
    const [T, D] = [101, 7];
    const source = createRandom(5, 'propagation.test');
    const embeddings = tf.tensor2d(
      Float32Array.from({ length: T * D }, () => source.drawNormal()),
      [T, D],
    );
    const moments = [2, 97, 50].map((turn) => ({ start: 0, turn, size: T, ringPositionOf: null }));
    const { kernels, result } = await tf.profile(() =>
      propagateAtMoments(embeddings, moments, PROPAGATION_PRESETS.framework),
    );
    const sizes = kernels.flatMap(({ outputShapes }) => outputShapes.map((shape) => tf.util.sizeFromShape(shape)));
    expect(Math.max(...sizes)).toBe(T * D);
    tf.dispose([embeddings, result as tf.Tensor]);
  });

  test('nothing leaks, also when it throws', () => {
    const embeddings = tf.ones([3, 2]) as tf.Tensor2D;
    const before = tf.memory().numTensors;
    propagateAll(embeddings, PROPAGATION_PRESETS.framework).dispose();
    expect(tf.memory().numTensors).toBe(before);
    embeddings.dispose();
    expect(() => propagateAll(embeddings, PROPAGATION_PRESETS.framework)).toThrow();
    expect(tf.memory().numTensors).toBe(before - 1);
  });
});
