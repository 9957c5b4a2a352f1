import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type GraphModel, loadGraphModel } from '@tensorflow/tfjs-converter';
import * as tf from '@tensorflow/tfjs-core';
import { UnavailableError, ValidationError } from '../../core/errors/errors.ts';
import { activeBackend, readsSynchronously } from '../../core/tensors/backend.ts';
import { ignoreProgress, letEventsIn, type StartProgress } from '../../core/terminal/progress.ts';
import type { EncodeOptions, TokenOptions, TokenVectors } from '../../model/encoder.ts';
import { scaleRowsToUnit } from './encoder-definition.ts';
import { USE_LITE_DEFAULTS, type UseLiteOptions, useLiteFolder, useLiteIdentity } from './encoder-options.ts';
import { batchByLength } from './length-batches.ts';
import { assertContext, type TokenEncoder } from './token-encoder.ts';

/** A piece of a unigram vocabulary and the logarithm of its probability; its place in the list is its number. */
export type Piece = readonly [text: string, score: number];

/** Stands for a space; every word begins with it. */
const WORD_START = '▁';
/** The penalty of a character without a piece, relative to the rarest piece, as in SentencePiece. */
const UNKNOWN_PENALTY = 10;
const UNKNOWN = 0;

interface TrieNode {
  readonly next: Map<string, TrieNode>;
  /** The number of the piece that ends here, if one does. */
  piece: number | undefined;
}

/**
 * Splits text into the pieces whose product of probabilities is highest (Viterbi), as SentencePiece does with a unigram
 * model. Characters that no piece covers become piece 0, a run of them one piece 0. Linear in the text's length.
 *
 * Kudo 2018, "Subword regularization: improving neural network translation models with multiple subword candidates".
 */
export class UnigramTokeniser {
  readonly #pieces: readonly Piece[];
  readonly #root: TrieNode = { next: new Map(), piece: undefined };
  readonly #unknownScore: number;

  /** @param reserved how many pieces at the start are control symbols, which no text is split into. */
  constructor(pieces: readonly Piece[], reserved: number) {
    this.#pieces = pieces;
    let worst = 0;
    for (let number = reserved; number < pieces.length; number++) {
      const [text, score] = pieces[number] as Piece;
      this.#insert(text, number);
      worst = Math.min(worst, score);
    }
    this.#unknownScore = worst - UNKNOWN_PENALTY;
  }

  #insert(text: string, number: number): void {
    let node = this.#root;
    for (const symbol of text) {
      let child = node.next.get(symbol);
      if (child === undefined) {
        child = { next: new Map(), piece: undefined };
        node.next.set(symbol, child);
      }
      node = child;
    }
    node.piece = number;
  }

  /** Numbers of the pieces in order; empty for a text of white space only. */
  encode(text: string): number[] {
    const normal = text.normalize('NFKC').trim();
    if (normal === '') return [];
    const symbols = [...(WORD_START + normal.replaceAll(/\s+/g, WORD_START))];
    const { piece, start } = this.#findBestSplit(symbols);
    const reversed: number[] = [];
    for (let end = symbols.length; end > 0; end = start[end]!) {
      if (piece[end] !== UNKNOWN || reversed.at(-1) !== UNKNOWN) reversed.push(piece[end]!);
    }
    return reversed.reverse();
  }

  /** For each end the last piece of the best split up to it, and the start of that piece. */
  #findBestSplit(symbols: readonly string[]): { piece: Int32Array; start: Int32Array } {
    const best = new Float64Array(symbols.length + 1).fill(Number.NEGATIVE_INFINITY);
    const piece = new Int32Array(symbols.length + 1);
    const start = new Int32Array(symbols.length + 1);
    best[0] = 0;
    const offer = (from: number, to: number, number: number, score: number) => {
      if (best[from]! + score <= best[to]!) return;
      best[to] = best[from]! + score;
      piece[to] = number;
      start[to] = from;
    };
    for (let from = 0; from < symbols.length; from++) {
      offer(from, from + 1, UNKNOWN, this.#unknownScore);
      let node: TrieNode | undefined = this.#root;
      for (let to = from + 1; to <= symbols.length; to++) {
        node = node.next.get(symbols[to - 1]!);
        if (node === undefined) break;
        if (node.piece !== undefined) offer(from, to, node.piece, this.#pieces[node.piece]![1]);
      }
    }
    return { piece, start };
  }
}

const DIMENSION = 512;
/** The graph reads no further piece of a text. */
const READ_PIECES = 128;
/** The node of the graph that has the vectors of tokens, [batch, pieces, 512], of which the mean over pieces is made. */
const TOKENS_NODE =
  'module_apply_default/Encoder_en/KonaTransformer/Encode/TransformerStack/Layer_1/TransformerLayer/FFN/layer_postprocess/add';
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
export async function loadUseLite(options: UseLiteOptions = USE_LITE_DEFAULTS): Promise<TokenEncoder> {
  if (!readsSynchronously())
    throw new UnavailableError(
      'encoder use-lite',
      `its graph reads tensors synchronously, which Node cannot on backend ${activeBackend()}; use lsa or another backend`,
    );
  const folder = useLiteFolder();
  const pieces = JSON.parse(readFileSync(join(folder, 'vocab.json'), 'utf8')) as Piece[];
  return new UseLite(await loadModel(folder), new UnigramTokeniser(pieces, RESERVED_PIECES), options);
}

class UseLite implements TokenEncoder {
  readonly name = 'use-lite';
  readonly dimension = DIMENSION;
  readonly tokenDimension = DIMENSION;
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
    const { maxTokens } = this.#options;
    const pieces = texts.map((text) => this.#tokeniser.encode(text).slice(0, maxTokens));
    const rows = new Float32Array(texts.length * DIMENSION);
    const stage = progress('encode with use-lite', texts.length);
    let done = 0;
    await this.#forEachText(pieces, undefined, signal, (text, vector) => {
      rows.set(vector, text * DIMENSION);
      stage.update(++done);
    });
    stage.finish(`${texts.length} texts`);
    return rows;
  }

  /** The outputs of the second layer, without special tokens and prompts; the texts of a context follow each other. */
  async encodeTokens(texts: readonly string[], { context, signal }: TokenOptions = {}): Promise<TokenVectors[]> {
    assertContext(texts, context);
    const most = Math.min(this.#options.maxTokens, READ_PIECES);
    const own = texts.map((text) => this.#tokeniser.encode(text).slice(0, most));
    const pieces = own.map((ids, i) => {
      const before = (context?.[i] ?? []).flatMap((part) => this.#tokeniser.encode(part));
      return [...before.slice(before.length - Math.min(before.length, most - ids.length)), ...ids];
    });
    const results: TokenVectors[] = own.map((ids) => {
      return { ids: Int32Array.from(ids), special: ids.map(() => false), vectors: new Float32Array() };
    });
    await this.#forEachText(pieces, TOKENS_NODE, signal, (text, all) => {
      const { ids, special } = results[text] as TokenVectors;
      const vectors = all.slice(all.length - ids.length * DIMENSION);
      scaleRowsToUnit(vectors, DIMENSION);
      results[text] = { ids, special, vectors };
    });
    return results;
  }

  /**
   * @param node of the graph whose output is used; by default its last.
   * @param use gets the numbers of a text that has pieces.
   */
  async #forEachText(
    pieces: readonly (readonly number[])[],
    node: string | undefined,
    signal: AbortSignal | undefined,
    use: (text: number, output: Float32Array) => void,
  ): Promise<void> {
    const model = this.#model;
    if (model === null) throw new ValidationError('encoder was disposed: use-lite; load a new encoder');
    for (const batch of batchByLength(pieces, this.#options.batchSize)) {
      signal?.throwIfAborted();
      const output = await execute(
        model,
        batch.map((text) => pieces[text]!),
        node,
      );
      const size = output.length / batch.length;
      for (const [i, text] of batch.entries()) use(text, output.subarray(i * size, (i + 1) * size));
      await letEventsIn();
    }
  }

  dispose(): void {
    this.#model?.dispose();
    this.#model = null;
  }
}

/** The output of a node for texts of one length; of the last, row-major [batch, 512], rows of length 1. */
async function execute(
  model: GraphModel,
  batch: readonly (readonly number[])[],
  node: string | undefined,
): Promise<Float32Array> {
  const pieceIndices = batch.flatMap((pieces, text) => pieces.flatMap((_, piece) => [text, piece]));
  const inputs = {
    indices: tf.tensor2d(pieceIndices, [pieceIndices.length / 2, 2], 'int32'),
    values: tf.tensor1d(batch.flat(), 'int32'),
  };
  let output: tf.Tensor | undefined;
  try {
    output = (await model.executeAsync(inputs, node)) as tf.Tensor;
    return (await output.data()) as Float32Array;
  } finally {
    tf.dispose([inputs.indices, inputs.values]);
    output?.dispose();
  }
}
