import * as tf from '@tensorflow/tfjs-core';
import type { Own, TensorOps } from '../../core/tensors/tensor-op.harness.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import { attend } from './attend.ts';
import { drawSampleRows, uploadPlainRows } from './attention-rows.fixture.ts';
import type { AttentionRows } from './attention-rows.ts';
import { bandedRingAttention } from './banded-ring-attention.ts';
import { blockwiseRingAttention } from './blockwise-ring-attention.ts';
import { propagateCorpus } from './corpus-propagation.ts';
import { PROPAGATION_PRESETS, RING_ATTENTION_DEFAULTS, unifiedAttentionOptions } from './options.ts';
import { propagateAtMoments } from './propagated-rows.ts';
import { type AttentionInputs, ringAttention } from './ring-attention.ts';
import { trajectoryAttention } from './trajectory-attention.ts';
import { unifiedAttention } from './unified-attention.ts';
import { propagateVersions } from './versioned-propagation.ts';

const RING = { ...RING_ATTENTION_DEFAULTS, temperature: 1 };
const UNIFIED = unifiedAttentionOptions.parse({});
const { framework: FRAMEWORK } = PROPAGATION_PRESETS;

function ownTensors<T extends AttentionInputs>(own: Own, inputs: T): T {
  for (const tensor of Object.values(inputs)) if (tensor instanceof tf.Tensor) own(tensor);
  return inputs;
}

/** Two coordinates for the 5 queries and 13 keys of the sample. */
const placeSampleRows = (own: Own) => ({
  ...ownTensors(own, uploadPlainRows(drawSampleRows(true))),
  queryCoordinates: own(tf.ones([5, 2]) as tf.Tensor2D),
  keyCoordinates: own(tf.zeros([13, 2]) as tf.Tensor2D),
  coordinateWeights: own(tf.ones([2]) as tf.Tensor1D),
});

/** One query, at place 0, of two keys, at 0 and 1, of values 2 and 4. */
function buildKeyPair(own: Own, keys: number[][], mask: number[] = [1, 1]) {
  return {
    queries: own(tf.tensor2d([keys[0] as number[]])),
    keys: own(tf.tensor2d(keys)),
    values: own(tf.tensor2d([2, 4], [2, 1])),
    queryPositions: own(tf.tensor1d([0], 'int32')),
    keyPositions: own(tf.tensor1d([0, 1], 'int32')),
    ringSize: 2,
    mask: own(tf.tensor2d([mask], [1, 2], 'bool')),
    queryCoordinates: own(tf.zeros([1, 3]) as tf.Tensor2D),
    keyCoordinates: own(tf.zeros([2, 3]) as tf.Tensor2D),
    coordinateWeights: own(tf.ones([3]) as tf.Tensor1D),
  };
}

const flat = { ...RING, decay: 0 };
const [ALIKE, ZERO] = [
  [
    [3, 4],
    [3, 4],
  ],
  [
    [0, 0],
    [0, 0],
  ],
];

/** A turn of each number, which is query, key and value. */
function buildNumberTurns(...numbers: number[]): AttentionRows {
  const rows = Float32Array.from(numbers);
  return { turns: numbers.length, queries: rows, keys: rows, values: rows };
}
const awaitOutput = async (result: Promise<{ output: Float32Array }>) => (await result).output;
const long = buildNumberTurns(...Array.from({ length: 181 }, (_, i) => Math.sin(i)));

function buildLengthsCorpus(...lengths: number[]): Corpus {
  const all = lengths.flatMap((length, c) => Array.from({ length }, (_, i) => ({ c: `c${c}`, id: `${c}-${i}`, i })));
  return new Corpus(
    all.map(({ c, id, i }) => {
      return { id, conversationId: c, parentId: null, timestamp: i, author: null, channel: null, text: 'turn' };
    }),
  );
}
const [many, few, single, two] = [
  buildLengthsCorpus(3, 131, 2),
  buildLengthsCorpus(3, 7, 2),
  buildLengthsCorpus(1),
  buildLengthsCorpus(2),
];
const embeddings = Float32Array.from({ length: 2 * many.size }, (_, i) => Math.cos(i));
const listVersions = async (corpus: Corpus, rows: Float32Array) => {
  const { vectors, positions } = await propagateVersions(corpus, rows, Int32Array.of(corpus.size), FRAMEWORK);
  return { vectors, positions };
};
const propagateSampleRows = async (corpus: Corpus, rows: Float32Array) =>
  (await propagateCorpus(corpus, rows, FRAMEWORK)).vectors;
function propagateTwo(own: Own, rows: number[][]): tf.Tensor2D {
  const size = rows.length;
  const moments = Array.from({ length: size }, (_, turn) => ({ start: 0, turn, size, ringPositionOf: null }));
  return propagateAtMoments(own(tf.tensor2d(rows)), moments, FRAMEWORK);
}

/** The cases of every method of attention over rows on the host. */
function buildRowCases(attention: (rows: AttentionRows, options: typeof RING) => Promise<Float32Array>) {
  return {
    use: () => attention(long, RING),
    refuses: [
      [() => attention({ ...long, keys: new Float32Array(5) }, RING), /keys: expected 181 rows of 1, got 5 numbers/],
      [() => attention(buildNumberTurns(1, Number.NaN), RING), /queries is not finite at row 1: NaN/],
    ],
    edges: {
      'zero vectors': [() => attention(buildNumberTurns(0, 0), flat), [0, 0]],
      duplicates: [() => attention(buildNumberTurns(3, 3), RING), [3, 3]],
      'one turn': [() => attention(buildNumberTurns(7), RING), [7]],
      'all masked': [() => attention({ ...buildNumberTurns(7, 5), keyMask: new Uint8Array(2) }, RING), [0, 0]],
    },
  } as const;
}

export const TENSOR_OPS: TensorOps = {
  attend: buildRowCases((rows, options) => awaitOutput(attend(rows, options))),
  bandedRingAttention: buildRowCases((rows, options) => awaitOutput(bandedRingAttention(rows, options))),
  blockwiseRingAttention: buildRowCases(blockwiseRingAttention),
  ringAttention: {
    use: (own) => ringAttention(ownTensors(own, uploadPlainRows(drawSampleRows(true))), RING),
    refuses: [
      [
        (own) => ringAttention({ ...buildKeyPair(own, ALIKE), mask: own(tf.ones([1, 2])) }, RING),
        /mask has dtype float32/,
      ],
      [(own) => ringAttention({ ...buildKeyPair(own, ALIKE), values: own(tf.ones([3, 1])) }, RING), /shape of values/],
    ],
    edges: {
      'zero vectors': [(own) => ringAttention(buildKeyPair(own, ZERO), flat), [0.5, 0.5, 3]],
      duplicates: [(own) => ringAttention(buildKeyPair(own, ALIKE), flat), [0.5, 0.5, 3]],
      'one turn': [(own) => ringAttention(buildKeyPair(own, ALIKE, [1, 0]), flat), [1, 0, 2]],
      'all masked': [(own) => ringAttention(buildKeyPair(own, ALIKE, [0, 0]), RING), [0, 0, 0]],
    },
  },
  trajectoryAttention: {
    use: (own) => trajectoryAttention(placeSampleRows(own), RING),
    refuses: [
      [
        (own) => trajectoryAttention({ ...placeSampleRows(own), keyCoordinates: own(tf.zeros([13, 3])) }, RING),
        /shape of keyCoordinates/,
      ],
    ],
    edges: {
      'zero vectors': [(own) => trajectoryAttention(buildKeyPair(own, ZERO), RING), [0.5, 0.5, 3]],
      duplicates: [(own) => trajectoryAttention(buildKeyPair(own, ALIKE), RING), [0.5, 0.5, 3]],
      'all masked': [(own) => trajectoryAttention(buildKeyPair(own, ALIKE, [0, 0]), RING), [0, 0, 0]],
    },
  },
  unifiedAttention: {
    use: (own) => unifiedAttention(placeSampleRows(own), UNIFIED),
    refuses: [
      [
        (own) => unifiedAttention(placeSampleRows(own), { ...UNIFIED, mix: { rcp: 1, ircp: 1, tpo: 1 } }),
        /shares that sum to 1/,
      ],
    ],
    edges: {
      // RCP sees the first key alone, IRCP and TPO see both.
      duplicates: [(own) => unifiedAttention(buildKeyPair(own, ALIKE), { ...UNIFIED, decay: 0 }), [0.7, 0.3, 2.6]],
      'all masked': [(own) => unifiedAttention(buildKeyPair(own, ALIKE, [0, 0]), UNIFIED), [0, 0, 0]],
    },
  },
  propagateAtMoments: {
    use: (own) => {
      const moments = [
        { start: 0, turn: 0, size: 1, ringPositionOf: null },
        { start: 1, turn: 1, size: 2, ringPositionOf: null },
      ];
      return propagateAtMoments(own(tf.tensor2d([1, 2, 3, 4, 5, 6], [3, 2])), moments, FRAMEWORK);
    },
    refuses: [[(own) => propagateAtMoments(own(tf.zeros([2, 3, 5])) as never, [], FRAMEWORK), /shape of embeddings/]],
    edges: {
      'zero vectors': [(own) => propagateTwo(own, ZERO), [0, 0, 0, 0]],
      duplicates: [(own) => propagateTwo(own, ALIKE), [0.6, 0.8, 0.6, 0.8]],
      'one turn': [(own) => propagateTwo(own, [[0, 5]]), [0, 1]],
    },
  },
  propagateCorpus: {
    use: () => propagateCorpus(many, embeddings, FRAMEWORK),
    refuses: [
      [() => propagateCorpus(many, embeddings.subarray(1), FRAMEWORK), /embeddings of the corpus: expected 136 rows/],
      [() => propagateCorpus(many, embeddings, FRAMEWORK, { tolerance: -1 }), /tolerance is negative: -1/],
    ],
    edges: {
      'zero vectors': [() => propagateSampleRows(two, new Float32Array(4)), [0, 0, 0, 0]],
      duplicates: [() => propagateSampleRows(two, Float32Array.of(3, 4, 3, 4)), [0.6, 0.8, 0.6, 0.8]],
      'one turn': [() => propagateSampleRows(single, Float32Array.of(0, 5)), [0, 1]],
    },
  },
  propagateVersions: {
    use: () => listVersions(few, embeddings.subarray(0, 24)),
    refuses: [[() => listVersions(few, embeddings.subarray(0, 23)), /embeddings of the corpus: expected 12 rows/]],
    edges: {
      'zero vectors': [() => listVersions(two, new Float32Array(4)), [0, 0, 0, 0, 0, 1]],
      'one turn': [() => listVersions(single, Float32Array.of(0, 5)), [0, 1, 0]],
    },
  },
};
