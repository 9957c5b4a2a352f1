import { cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import * as tf from '@tensorflow/tfjs-core';
import { UnavailableError, ValidationError } from '../src/core/errors/errors.ts';
import { createRandom } from '../src/core/numbers/random.ts';
import { BACKENDS, type BackendChoice, useBackend } from '../src/core/tensors/backend.ts';
import { matmul } from '../src/core/tensors/matmul.ts';
import { readBack } from '../src/core/tensors/scope.ts';
import { loadUseLite } from '../src/index/encoders/use-lite.ts';
import { drawBert } from '../src/ops/bert/bert.fixture.ts';
import { type BertSizes, disposeBert, runBert, uploadBert } from '../src/ops/bert/bert.ts';
import { tryOnnx } from './bert-onnx.ts';
import { BertPeer } from './bert-peer.ts';
import { parsePositiveOption } from './integer-option.ts';
import { findTorch } from './peers/process.ts';
import { formatTextTable } from './text-table.ts';

export const BERT_USAGE = `bert [options]   time of a pass of a BERT of the size of e5-small-v2, beside the matrix rate of the backend and beside torch, which it installs into a virtual environment where python3 has none
    --lengths T,T      pieces of a text (default 17,38,110)
    --batches B,B      texts at once (default 1,4)
    --layers L         (default 12)
    --rounds R         of which the fastest counts, as others disturb only upward (default 7)
    --peer P           torch, none (default torch)
    --onnx FOLDER      a model with ONNX weights in float32, which runs beside onnxruntime too where @huggingface/transformers is installed
    --backend B        auto, ${BACKENDS.join(', ')} (default auto)`;

const PEERS = ['torch', 'none'] as const;

/** The sizes of e5-small-v2, but for the vocabulary, of which a pass reads few rows. */
export const SIZES: BertSizes = {
  hidden_size: 384,
  num_hidden_layers: 12,
  num_attention_heads: 12,
  intermediate_size: 1536,
  max_position_embeddings: 512,
  vocab_size: 1000,
  layer_norm_eps: 1e-12,
};

/** Multiplications and additions of the matrix products of a text of T pieces. */
function countOperations({ hidden_size: D, num_hidden_layers, intermediate_size }: BertSizes, length: number): number {
  return 2 * num_hidden_layers * length * (4 * D * D + 2 * D * intermediate_size + 2 * length * D);
}

async function timeFastest(rounds: number, work: () => Promise<unknown>): Promise<number> {
  let fastest = Number.POSITIVE_INFINITY;
  for (let round = 0; round <= rounds; round++) {
    const started = performance.now();
    await work();
    if (round > 0) fastest = Math.min(fastest, performance.now() - started); // the first one warms up
  }
  return fastest;
}

/** The fastest of ours and of torch, which take turns after a warm-up of each. */
async function timeInTurn(
  rounds: number,
  run: () => Promise<Float32Array>,
  peer: BertPeer | null,
  ids: Int32Array,
  length: number,
) {
  const vectors = await run();
  if (peer === null) return { milliseconds: await timeFastest(rounds, run), torch: null };
  let [milliseconds, one, own, difference] = [
    Number.POSITIVE_INFINITY,
    Number.POSITIVE_INFINITY,
    Number.POSITIVE_INFINITY,
    0,
  ];
  for (let round = 0; round < rounds; round++) {
    const started = performance.now();
    await run();
    milliseconds = Math.min(milliseconds, performance.now() - started);
    one = Math.min(one, (await peer.run(ids, length, 1)).milliseconds);
    const last = await peer.run(ids, length, null);
    own = Math.min(own, last.milliseconds);
    if (round === 0)
      for (const [i, value] of last.vectors.entries())
        difference = Math.max(difference, Math.abs(value - (vectors[i] as number)));
  }
  return { milliseconds, torch: { one, own, difference } };
}

/** Operations a second of the largest product of a layer by itself, over as many rows as the batch has pieces. */
async function measureMatrixRate(
  { hidden_size: D, intermediate_size: inner }: BertSizes,
  rows: number,
  rounds: number,
) {
  const [x, w] = [tf.ones([rows, D]) as tf.Tensor2D, tf.ones([D, inner]) as tf.Tensor2D];
  const milliseconds = await timeFastest(rounds * 3, () => readBack('product', () => matmul(x, w)));
  tf.dispose([x, w]);
  return (2 * rows * D * inner) / milliseconds / 1e6;
}

/** A model of a folder beside onnxruntime. */
async function printOnnx(folder: string | undefined, lengths: readonly number[], rounds: number): Promise<void> {
  if (folder === undefined) {
    console.log('no onnxruntime: name a model with --onnx FOLDER');
    return;
  }
  const found = await tryOnnx(folder, lengths, rounds);
  if (typeof found === 'string') {
    console.log(`no onnxruntime: ${found}`);
    return;
  }
  const lines = found.map(({ pieces, bert, onnx, difference }) => [
    ...[`${pieces}`, bert.toFixed(1), onnx.toFixed(1), (bert / onnx).toFixed(2), difference.toExponential(1)],
  ]);
  console.log(
    `\n${folder}, a text at a time:\n${formatTextTable(['pieces', 'ms', 'onnxruntime, its threads', 'ratio', 'difference'], lines)}`,
  );
}

/** The encoder that needs no download, on texts of as many pieces, one at a time. */
async function printUseLite(lengths: readonly number[], rounds: number): Promise<void> {
  const encoder = await loadUseLite().catch((error: unknown) => {
    if (!(error instanceof UnavailableError)) throw error;
    console.log(`no use-lite: ${error.message}`);
    return null;
  });
  if (encoder === null) return;
  const lines: string[][] = [];
  for (const length of lengths) {
    const texts = [Array<string>(length).fill('the').join(' ')];
    const [tokens] = await encoder.encodeTokens(texts);
    const milliseconds = await timeFastest(rounds, () => encoder.encodeTokens(texts));
    lines.push([`${tokens!.ids.length}`, milliseconds.toFixed(1)]);
  }
  encoder.dispose();
  console.log(`\nuse-lite, a text at a time:\n${formatTextTable(['pieces', 'ms'], lines)}`);
}

/** Prints the table of the bench. */
export async function benchBert(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      lengths: { type: 'string', default: '17,38,110' },
      batches: { type: 'string', default: '1,4' },
      layers: { type: 'string', default: '12' },
      rounds: { type: 'string', default: '7' },
      peer: { type: 'string', default: 'torch' },
      onnx: { type: 'string' },
      backend: { type: 'string', default: 'auto' },
    },
  });
  const list = (name: 'lengths' | 'batches') => values[name].split(',').map((word) => parsePositiveOption(name, word));
  const asked = PEERS.find((name) => name === values.peer);
  if (asked === undefined) throw new ValidationError(`unknown --peer: ${values.peer}; use one of ${PEERS.join(', ')}`);
  const rounds = parsePositiveOption('rounds', values.rounds);
  const sizes = { ...SIZES, num_hidden_layers: parsePositiveOption('layers', values.layers) };
  const backend = await useBackend(values.backend as BackendChoice);
  const machine = `${cpus()[0]?.model ?? 'unknown'}, ${cpus().length} cores`;
  console.log(`machine: ${machine}; load ${loadavg()[0]?.toFixed(1)}; node ${process.version}; backend ${backend}`);
  const started = performance.now();
  const weights = drawBert(1, sizes);
  const bert = uploadBert(weights, sizes);
  const bytes = tf.memory().numBytes / 2 ** 20;
  console.log(
    `weights: ${sizes.num_hidden_layers} layers of ${sizes.hidden_size} numbers, random, seed 1; on the device in ${(performance.now() - started).toFixed(0)} ms, ${bytes.toFixed(0)} MiB`,
  );
  const python = asked === 'torch' ? findTorch() : { missing: 'none was asked for' };
  const peer = 'missing' in python ? null : new BertPeer(python, weights, sizes);
  const source = createRandom(1, 'pieces');
  const rows: string[][] = [];
  for (const batch of list('batches'))
    for (const length of list('lengths')) {
      const ids = Int32Array.from({ length: batch * length }, () => source.integer(sizes.vocab_size));
      const run = () => readBack('bert', () => runBert(bert, ids, length));
      const { milliseconds, torch } = await timeInTurn(rounds, run, peer, ids, length);
      const { kernels } = await tf.profile(() => tf.tidy(() => runBert(bert, ids, length)));
      const rate = (batch * countOperations(sizes, length)) / milliseconds / 1e6;
      const most = await measureMatrixRate(sizes, batch * length, rounds);
      rows.push(
        [
          batch,
          length,
          (milliseconds / batch).toFixed(1),
          rate.toFixed(1),
          most.toFixed(1),
          (most / rate).toFixed(2),
          kernels.length,
          ...(torch === null
            ? ['-', '-', '-', '-', '-']
            : [
                ...[torch.one, torch.own].flatMap((time) => [
                  (time / batch).toFixed(1),
                  (milliseconds / time).toFixed(2),
                ]),
                torch.difference.toExponential(1),
              ]),
        ].map(String),
      );
    }
  disposeBert(bert);
  peer?.dispose();
  const own = ['texts', 'pieces', 'ms a text', 'GFLOP/s', 'a product alone', 'ratio', 'launches'];
  const theirs = ['torch, 1 thread', 'ratio', 'torch, its threads', 'ratio', 'difference'];
  console.log(formatTextTable([...own, ...theirs], rows));
  console.log('missing' in python ? `no peer: ${python.missing}` : `peer: ${python.versions}`);
  await printUseLite(list('lengths'), rounds);
  await printOnnx(values.onnx, list('lengths'), rounds);
  console.log(`load at the end ${loadavg()[0]?.toFixed(1)}`);
}
