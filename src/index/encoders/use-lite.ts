import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type GraphModel, loadGraphModel } from '@tensorflow/tfjs-converter';
import * as tf from '@tensorflow/tfjs-core';
import { UnavailableError, ValidationError } from '../../core/errors/errors.ts';
import { activeBackend, readsSynchronously } from '../../core/tensors/backend.ts';
import { ignoreProgress, type StartProgress } from '../../core/terminal/progress.ts';
import { letEventsIn } from '../../core/values/event-loop.ts';
import type { EncodeOptions, Encoder } from '../../model/encoder.ts';
import { batchByLength } from './length-batches.ts';
import { type Piece, UnigramTokeniser } from './unigram-tokeniser.ts';
import { USE_LITE_DEFAULTS, type UseLiteOptions, useLiteFolder, useLiteIdentity } from './use-lite-options.ts';

const DIMENSION = 512;
/** `<unk>`, `<s>`, `</s>` and three spare symbols. */
const RESERVED_PIECES = 6;

/** Reads the graph and its weights, which the package holds in shards. */
async function loadModel(folder: string): Promise<GraphModel> {
  const { modelTopology, weightsManifest } = JSON.parse(readFileSync(join(folder, 'model.json'), 'utf8')) as {
    modelTopology: object;
    weightsManifest: { paths: string[]; weights: tf.io.WeightsManifestEntry[] }[];
  };
  const shards = weightsManifest.flatMap(({ paths }) => paths).map((path) => readFileSync(join(folder, path)));
  return loadGraphModel({
    load: async () => ({
      modelTopology,
      weightSpecs: weightsManifest.flatMap(({ weights }) => weights),
      weightData: new Uint8Array(Buffer.concat(shards)).buffer,
    }),
  });
}

/**
 * Universal Sentence Encoder Lite, a two-layer transformer over 8,000 word pieces, run as a graph model on the active backend; 512 dimensions. Texts are sorted by
 * length, and a batch holds texts of one length only: padding would affect the vector of a shorter text.
 *
 * Cer et al. 2018, "Universal Sentence Encoder".
 *
 * @throws UnavailableError when the package with the weights is not installed, and on webgpu.
 */
export async function loadUseLite(options: UseLiteOptions = USE_LITE_DEFAULTS): Promise<Encoder> {
  if (!readsSynchronously())
    throw new UnavailableError(
      'encoder use-lite',
      `its graph reads tensors synchronously, which Node cannot on backend ${activeBackend()}; use lsa or another backend`,
    );
  const folder = useLiteFolder();
  const pieces = JSON.parse(readFileSync(join(folder, 'vocab.json'), 'utf8')) as Piece[];
  return new UseLite(await loadModel(folder), new UnigramTokeniser(pieces, RESERVED_PIECES), options);
}

class UseLite implements Encoder {
  readonly name = 'use-lite';
  readonly dimension = DIMENSION;
  readonly identity: Readonly<Record<string, unknown>>;
  readonly #tokeniser: UnigramTokeniser;
  readonly #options: UseLiteOptions;
  #model: GraphModel | null;

  constructor(model: GraphModel, tokeniser: UnigramTokeniser, options: UseLiteOptions) {
    this.#model = model;
    this.#tokeniser = tokeniser;
    this.#options = options;
    this.identity = { ...useLiteIdentity(options), dimension: DIMENSION };
  }

  async encode(
    texts: readonly string[],
    progress: StartProgress = ignoreProgress,
    { signal }: EncodeOptions = {},
  ): Promise<Float32Array> {
    const model = this.#model;
    if (model === null) throw new ValidationError('encoder was disposed: use-lite; load a new encoder');
    const { maxTokens, batchSize } = this.#options;
    const pieces = texts.map((text) => this.#tokeniser.encode(text).slice(0, maxTokens));
    const rows = new Float32Array(texts.length * DIMENSION);
    const stage = progress('encode with use-lite', texts.length);
    let done = 0;
    for (const batch of batchByLength(pieces, batchSize)) {
      signal?.throwIfAborted();
      const vectors = await embed(
        model,
        batch.map((text) => pieces[text]!),
      );
      for (const [i, text] of batch.entries())
        rows.set(vectors.subarray(i * DIMENSION, (i + 1) * DIMENSION), text * DIMENSION);
      done += batch.length;
      stage.update(done);
      await letEventsIn();
    }
    stage.finish(`${texts.length} texts`);
    return rows;
  }

  dispose(): void {
    this.#model?.dispose();
    this.#model = null;
  }
}

/** @returns row-major [batch, 512], rows of length 1 */
async function embed(model: GraphModel, batch: readonly (readonly number[])[]): Promise<Float32Array> {
  const pieceIndices = batch.flatMap((pieces, text) => pieces.flatMap((_, piece) => [text, piece]));
  const inputs = {
    indices: tf.tensor2d(pieceIndices, [pieceIndices.length / 2, 2], 'int32'),
    values: tf.tensor1d(batch.flat(), 'int32'),
  };
  let output: tf.Tensor | undefined;
  try {
    output = (await model.executeAsync(inputs)) as tf.Tensor;
    return (await output.data()) as Float32Array;
  } finally {
    tf.dispose([inputs.indices, inputs.values]);
    output?.dispose();
  }
}
