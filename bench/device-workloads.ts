import * as tf from '@tensorflow/tfjs-core';
import { createRandom } from '../src/core/numbers/random.ts';
import { registerGradients } from '../src/core/tensors/gradients.ts';
import { readBack } from '../src/core/tensors/scope.ts';
import { checkRows } from '../src/ops/attention/attention-rows.ts';
import { chooseBand, DEFAULT_TOLERANCE } from '../src/ops/attention/banded-ring-attention.ts';
import { blockwiseRingAttention } from '../src/ops/attention/blockwise-ring-attention.ts';
import { propagateCorpus } from '../src/ops/attention/corpus-propagation.ts';
import { PROPAGATION_PRESETS } from '../src/ops/attention/options.ts';
import { computeTensorBand } from '../src/ops/attention/tensor-band.ts';
import { drawBert } from '../src/ops/bert/bert.fixture.ts';
import { type Bert, type BertSizes, disposeBert, runBert, runBertLayers, uploadBert } from '../src/ops/bert/bert.ts';
import { computeTokenMaxima } from '../src/ops/late/late-interaction.ts';
import { OPTIONS } from './attention-workload.ts';
import {
  type BackendWorkload,
  buildLearningWorkload,
  buildPageRankWorkload,
  buildRerankWorkload,
  doNothing,
  FULL_SIZES,
  type WorkloadSizes,
} from './backend-workloads.ts';
import { SIZES as E5_SIZES } from './bert.ts';
import { drawClusteredVectors } from './clustered-vectors.ts';
import { drawRerankWorld } from './rerank-workload.ts';

export const DEVICE_SIZES = ['tiny', 'small', 'large'] as const;
export type DeviceSize = (typeof DEVICE_SIZES)[number];

interface DeviceWorkloadSizes extends Omit<WorkloadSizes, 'seed' | 'texts'> {
  /** Turns of a conversation whose attention is dense. */
  readonly dense: number;
  /** Turns of a conversation whose attention is a band. */
  readonly banded: number;
  /** Turns of the corpus that is propagated. */
  readonly propagation: number;
  /** Turns, tokens of a turn and of a question. */
  readonly late: { readonly turns: number; readonly turnTokens: number; readonly questionTokens: number };
  /** Gradients keep what all layers compute, so that a backward pass takes fewer texts. */
  readonly bert: {
    readonly sizes: BertSizes;
    readonly texts: { readonly forward: number; readonly backward: number };
    readonly pieces: number;
  };
  /** Rows of the square matrices, and numbers of the arrays, by which the rates of a backend are measured. */
  readonly rates: { readonly rows: number; readonly numbers: number };
}

const TINY_BERT = { ...E5_SIZES, hidden_size: 48, num_attention_heads: 3, intermediate_size: 96, vocab_size: 97 };

const SIZES: Readonly<Record<DeviceSize, DeviceWorkloadSizes>> = {
  tiny: {
    ...{ dense: 67, banded: 131, propagation: 101, dimension: 24 },
    late: { turns: 31, turnTokens: 7, questionTokens: 5 },
    bert: { sizes: { ...TINY_BERT, num_hidden_layers: 2 }, texts: { forward: 2, backward: 2 }, pieces: 11 },
    pagerank: { nodes: 53, edges: 211, batch: 3 },
    rerank: { turns: 101, candidates: 11, batches: [5] },
    learning: { queries: 31, candidates: 7, signals: 3, epochs: 2 },
    rates: { rows: 128, numbers: 2 ** 16 },
  },
  small: {
    ...{ dense: 512, banded: 2048, propagation: 800, dimension: 128 },
    late: { turns: 2000, turnTokens: 32, questionTokens: 16 },
    bert: { sizes: { ...E5_SIZES, num_hidden_layers: 2 }, texts: { forward: 2, backward: 2 }, pieces: 38 },
    pagerank: { nodes: 1000, edges: 10_000, batch: 32 },
    rerank: { turns: 1000, candidates: 100, batches: [32] },
    learning: { queries: 1000, candidates: 100, signals: 16, epochs: 5 },
    rates: { rows: 1024, numbers: 2 ** 22 },
  },
  large: {
    ...{ dense: 8192, banded: 32_768, propagation: 20_000, dimension: 512 },
    late: { turns: 20_000, turnTokens: 35, questionTokens: 32 },
    bert: { sizes: E5_SIZES, texts: { forward: 64, backward: 16 }, pieces: 128 },
    pagerank: { nodes: 5400, edges: 50_000, batch: 256 },
    rerank: { turns: 3216, candidates: 200, batches: [256] },
    learning: { ...FULL_SIZES.learning, epochs: 20 },
    rates: { rows: 4096, numbers: 2 ** 26 },
  },
};

function buildDenseWorkload({ dense: turns, dimension }: DeviceWorkloadSizes, seed: number): BackendWorkload {
  return {
    name: `attention, dense, ${turns} turns`,
    open: async () => {
      const vectors = drawClusteredVectors(turns, dimension, seed, 'turns');
      const rows = { turns, queries: vectors, keys: vectors, values: vectors };
      return { run: () => blockwiseRingAttention(rows, OPTIONS), dispose: doNothing };
    },
  };
}

/** Blocks of tensors, as on a card. */
function buildBandWorkload({ banded: turns, dimension }: DeviceWorkloadSizes, seed: number): BackendWorkload {
  return {
    name: `attention, banded, ${turns} turns`,
    open: async () => {
      const vectors = drawClusteredVectors(turns, dimension, seed, 'turns');
      const rows = checkRows({ turns, queries: vectors, keys: vectors, values: vectors });
      const { width } = chooseBand(rows, DEFAULT_TOLERANCE, OPTIONS);
      return { run: () => computeTensorBand(rows, width, OPTIONS), dispose: doNothing };
    },
  };
}

function buildPropagationWorkload({ propagation, dimension }: DeviceWorkloadSizes, seed: number): BackendWorkload {
  return {
    name: `propagation, ${propagation} turns`,
    open: async () => {
      const { corpus, turnVectors } = drawRerankWorld(propagation, 1, dimension, seed);
      const run = async () => (await propagateCorpus(corpus, turnVectors, PROPAGATION_PRESETS.framework)).vectors;
      return { run, dispose: doNothing };
    },
  };
}

/** In float32, which every backend multiplies as tensors. */
function buildLateWorkload({ late, dimension }: DeviceWorkloadSizes, seed: number): BackendWorkload {
  const { turns, turnTokens, questionTokens } = late;
  return {
    name: `late interaction, ${turns} turns`,
    open: async () => {
      const vectors = drawClusteredVectors(turns * turnTokens, dimension, seed, 'tokens');
      const question = drawClusteredVectors(questionTokens, dimension, seed, 'question');
      const starts = Int32Array.from({ length: turns + 1 }, (_, turn) => turn * turnTokens);
      return { run: () => computeTokenMaxima({ vectors, starts, dimension }, question), dispose: doNothing };
    },
  };
}

/** Gradients of the mean square of the last layer: by the first rows, and summed by column those of all matrices. */
function computeBertGradients({ sizes, layers }: Bert, rows: tf.Tensor2D, pieces: number): tf.Tensor1D {
  const matrices = layers.flatMap(({ attention, output, inner, outer }) =>
    [attention, output, inner, outer].map(({ weight }) => weight),
  );
  const gradients = tf.grads(() => tf.mean(tf.square(runBertLayers(sizes, layers, rows, pieces))))([rows, ...matrices]);
  return tf.concat1d(gradients.map((gradient) => tf.reshape(tf.sum(gradient, 0), [-1]) as tf.Tensor1D));
}

function buildBertWorkload(
  pass: 'forward' | 'backward',
  {
    bert: {
      sizes,
      texts: { [pass]: texts },
      pieces,
    },
  }: DeviceWorkloadSizes,
  seed: number,
): BackendWorkload {
  return {
    name: `bert, ${pass}, ${texts} texts`,
    open: async () => {
      registerGradients();
      const bert = uploadBert(drawBert(seed, sizes), sizes);
      const source = createRandom(seed, 'pieces');
      const ids = Int32Array.from({ length: texts * pieces }, () => source.integer(sizes.vocab_size));
      const numbers = Float32Array.from({ length: ids.length * sizes.hidden_size }, () => source.drawNormal());
      const run = () =>
        readBack('bert', () =>
          pass === 'forward'
            ? runBert(bert, ids, pieces)
            : computeBertGradients(bert, tf.tensor2d(numbers, [ids.length, sizes.hidden_size]), pieces),
        );
      return { run, dispose: () => disposeBert(bert) };
    },
  };
}

export function readRateSizes(size: DeviceSize): DeviceWorkloadSizes['rates'] {
  return SIZES[size].rates;
}

/** The project's work with tensors, by the size of its inputs. */
export function listDeviceWorkloads(size: DeviceSize, seed: number): BackendWorkload[] {
  const own = SIZES[size];
  const shared = { ...own, texts: 0, seed };
  return [
    buildDenseWorkload(own, seed),
    buildBandWorkload(own, seed),
    buildPropagationWorkload(own, seed),
    buildLateWorkload(own, seed),
    buildBertWorkload('forward', own, seed),
    buildBertWorkload('backward', own, seed),
    buildPageRankWorkload('sparse', shared),
    buildPageRankWorkload('dense', shared),
    ...own.rerank.batches.map((batch) => buildRerankWorkload(batch, shared)),
    buildLearningWorkload(shared),
  ];
}
