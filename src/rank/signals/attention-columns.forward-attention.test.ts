import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { createRandom } from '../../core/numbers/random.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { TEST_BACKENDS } from '../../core/tensors/backends.harness.ts';
import { scoped } from '../../core/tensors/scope.ts';
import { buildConversationTurns } from '../../model/turns/conversations.fixture.ts';
import { attentionLogits, RING_ATTENTION_DEFAULTS } from '../../ops/attention/options.ts';
import { forwardAttention } from './attention-columns.ts';
import { buildCorpusCosines } from './forward-cosines.fixture.ts';
import { buildForwardCosines, computeForwardLogMasses, listTurnsAhead } from './forward-mass.ts';
import { computeForwardWidth } from './signal-options.ts';

const DIMENSION = 7;
const LENGTHS = [1, 2, 3, 5, 19, 101];

interface Options {
  readonly topology: 'ring' | 'line';
  readonly combine: 'multiplicative' | 'additive';
  readonly self: 'include' | 'exclude';
  readonly decay: number;
  readonly temperature: number;
}

/** Unit vectors that resemble their conversation's theme, with a zero vector and a duplicate among them. */
function buildForwardFixture() {
  const source = createRandom(11, 'forward-attention.test');
  const corpus = buildConversationTurns(LENGTHS);
  const themes = LENGTHS.map(() => Array.from({ length: DIMENSION }, () => source.drawNormal()));
  const rows = [...corpus.conversationOf].map((c) => {
    const row = (themes[c] as number[]).map((x) => x + source.drawNormal());
    const norm = Math.hypot(...row);
    return row.map((x) => x / norm);
  });
  rows[23] = rows[23]?.map(() => 0) as number[];
  rows[29] = rows[28] as number[];
  return { corpus, rows, source };
}

const { corpus, rows, source } = buildForwardFixture();
const multiplyVectors = (a: readonly number[], b: readonly number[]) =>
  a.reduce((sum, x, i) => sum + x * (b[i] as number), 0);

/** Every turn of the corpus as a candidate, asked when its conversation had p + 1, all, or some number of turns between. */
const pairs = [...corpus.turns.keys()].flatMap((position) => {
  const length = corpus.conversations[corpus.conversationOf[position] as number]?.turns.length as number;
  const ringPosition = corpus.ringPosition[position] as number;
  const sizes = new Set([
    ringPosition + 1,
    Math.max(ringPosition + 1, length - 1),
    length,
    ringPosition + 1 + source.integer(length - ringPosition),
  ]);
  const query = rows[source.integer(rows.length)] as number[];
  return [...sizes].map((turns) => ({ position, ringPosition, turns, query }));
});

/** Vectors of each conversation in time order. */
const members = corpus.conversations.map((_, conversation) =>
  rows.filter((_, position) => corpus.conversationOf[position] === conversation),
);

/** The last column of the dense anticausal matrix of the conversation's first turns and the query, by the formula, in float64. */
function computeDenseScore(
  pair: (typeof pairs)[number],
  { topology, combine, self, decay, temperature }: Options,
): number {
  const conversation = members[corpus.conversationOf[pair.position] as number] as number[][];
  const ring = [...conversation.slice(0, pair.turns), pair.query];
  let sum = 0;
  let own = 0;
  for (let j = pair.ringPosition + (self === 'exclude' ? 1 : 0); j < ring.length; j++) {
    const steps = j - pair.ringPosition;
    const distance = topology === 'ring' ? Math.min(steps, ring.length - steps) : steps;
    const semantic = (1 + multiplyVectors(ring[pair.ringPosition] as number[], ring[j] as number[])) / 2;
    const logit =
      combine === 'multiplicative'
        ? (Math.exp(-decay * distance) * semantic) / temperature
        : semantic / temperature - decay * distance;
    own = Math.exp(logit);
    sum += own;
  }
  return own / sum;
}

async function computeForwardScores(width: number, options: Options): Promise<number[]> {
  const shape: [number, number] = [1, pairs.length];
  const pickIntegers = (pick: (pair: (typeof pairs)[number]) => number) => Int32Array.from(pairs, pick);
  const uploadPicked = (pick: (pair: (typeof pairs)[number]) => number) => tf.tensor2d(pairs.map(pick), shape);
  const masses = await computeForwardLogMasses(
    listTurnsAhead(corpus, await buildCorpusCosines(corpus, Float32Array.from(rows.flat()), width), width),
    {
      positions: pickIntegers(({ position }) => position),
      ringPositions: pickIntegers(({ ringPosition }) => ringPosition),
      turns: pickIntegers(({ turns }) => turns),
    },
    options,
  );
  const inputs = {
    cosine: uploadPicked(({ position, query }) => multiplyVectors(rows[position] as number[], query)),
    distance: uploadPicked(({ ringPosition, turns }) =>
      options.topology === 'ring' ? Math.min(turns - ringPosition, ringPosition + 1) : turns - ringPosition,
    ),
    masses: tf.tensor2d(masses, shape),
  };
  const got = scoped('got', () =>
    forwardAttention(attentionLogits(inputs.cosine, inputs.distance, options), inputs.masses),
  );
  const values = [...(await got.data())];
  tf.dispose([inputs, got]);
  return values;
}

/** The greatest error among pairs of conversations that had at most `most` turns. */
async function findWorstForward(width: number, options: Options, most = Number.POSITIVE_INFINITY): Promise<number> {
  const got = await computeForwardScores(width, options);
  const errors = pairs.map((pair, i) =>
    pair.turns > most ? 0 : Math.abs((got[i] as number) - computeDenseScore(pair, options)),
  );
  return Math.max(...errors.map((error) => (Number.isFinite(error) ? error : Number.POSITIVE_INFINITY)));
}

const SELVES = ['include', 'exclude'] as const;
const TOPOLOGIES = ['ring', 'line'] as const;
const CHOICES = TOPOLOGIES.flatMap((topology) => SELVES.map((self) => ({ topology, self })));

describe.each(TEST_BACKENDS)('on %s', (backend) => {
  beforeAll(() => useBackend(backend));

  describe.each(CHOICES)('$topology, self $self', (choice) => {
    test.each([
      { combine: 'multiplicative', decay: 0.5, temperature: 0.1 },
      { combine: 'multiplicative', decay: 0.7, temperature: 1 },
      { combine: 'additive', decay: 1, temperature: 1 },
    ] as const)('a band of 16 is near the dense matrix: $combine, decay $decay', async (how) => {
      // Without the turn itself the row's denominator is small; the band's bound, e^(e^-8 / 0.1) - 1 = 3e-3 of a score, is far above either.
      expect(await findWorstForward(16, { ...choice, ...how })).toBeLessThan(choice.self === 'include' ? 1e-5 : 2e-5);
    });

    test.each([
      { combine: 'multiplicative', decay: 0.1, temperature: 0.3 },
      { combine: 'multiplicative', decay: 0, temperature: 0.1 },
      { combine: 'additive', decay: 0.3, temperature: 0.1 },
    ] as const)('the width that a tolerance asks for keeps it: $combine, decay $decay', async (how) => {
      const options = { ...choice, ...how };
      expect(await findWorstForward(computeForwardWidth(corpus, options, 1e-5), options)).toBeLessThan(1e-5);
    });

    test('a band that holds the whole ring is exact', async () => {
      const faint = { ...choice, combine: 'multiplicative', decay: 0.05, temperature: 0.1 } as const;
      const held = choice.topology === 'ring' ? 18 : 9; // a ring of 19 has no place more than 9 steps away
      expect(await findWorstForward(9, faint, held)).toBeLessThan(1e-6);
    });

    test('a band of 1 still counts each key once', async () => {
      // Beyond the turn itself all logits are 0 to 25 digits, so that a score is off by nothing but a miscount.
      const flat = { ...choice, combine: 'multiplicative', decay: 60, temperature: 1 } as const;
      expect(await findWorstForward(1, flat)).toBeLessThan(1e-5);
      expect(await findWorstForward(5, flat)).toBeLessThan(1e-5);
    });
  });

  test('a band that is too narrow differs from the dense matrix', async () => {
    const options = {
      topology: 'ring',
      self: 'exclude',
      combine: 'multiplicative',
      decay: 0.1,
      temperature: 0.1,
    } as const;
    expect(await findWorstForward(2, options)).toBeGreaterThan(1e-3);
  });

  test('padding is 0, and nothing leaks, also when it throws', async () => {
    const before = tf.memory().numTensors;
    const options = RING_ATTENTION_DEFAULTS;
    const padding = {
      positions: new Int32Array(6).fill(-1),
      ringPositions: new Int32Array(6),
      turns: new Int32Array(6),
    };
    expect(await computeForwardLogMasses(listTurnsAhead(corpus, [], 3), padding, options)).toEqual(new Float32Array(6));
    await expect(buildForwardCosines(new Float32Array(3), [131], 3)).rejects.toThrow(
      'embeddings of the conversation: expected 131 rows',
    );
    expect(tf.memory().numTensors).toBe(before);
    const zeros = tf.zeros([2, 3]) as tf.Tensor2D;
    const other = tf.zeros([3, 2]) as tf.Tensor2D;
    expect(() => forwardAttention(zeros, other)).toThrow('shape of logMasses');
    tf.dispose([zeros, other]);
    expect(tf.memory().numTensors).toBe(before);
  });
});
