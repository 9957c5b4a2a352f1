import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs-core';
import { UnavailableError } from '../src/core/errors/errors.ts';
import { readSafetensors } from '../src/core/files/safetensors.ts';
import type { createRandom } from '../src/core/numbers/random.ts';
import { readBack, scoped } from '../src/core/tensors/scope.ts';
import { loadBert, readBertSizes } from '../src/index/encoders/bert.ts';
import { BERT_WEIGHTS, type BertOptions } from '../src/index/encoders/encoder-options.ts';
import { batchByLength } from '../src/index/encoders/length-batches.ts';
import { describeMissingModel, locateModelFolder } from '../src/index/encoders/models/model-location.ts';
import type { TokenText } from '../src/model/encoder.ts';
import { type Bert, type BertLayer, disposeBert, runBert, runBertLayers, uploadBert } from '../src/ops/bert/bert.ts';
import { scaleToUnit } from '../src/ops/late/token-projection.ts';

/** A text as the layer before the trained ones gives it. */
export interface HiddenText {
  /** Row-major [T, D] of all tokens that the model reads. */
  readonly states: Float32Array;
  /** The first of the text's own tokens, and the one after its last. */
  readonly start: number;
  readonly end: number;
}

/** The places of the tokens of each of N texts among rows: the first, and the one after the last. */
export type TokenSpans = readonly (readonly [number, number])[];

/** The shapes of arrays, [rows, columns] each. */
export type Shapes = readonly (readonly [number, number])[];

/** Puts arrays of given shapes on the device. */
export function uploadArrays(shapes: Shapes, arrays: readonly Float32Array[]): tf.Tensor2D[] {
  return shapes.map((shape, i) => tf.tensor2d(arrays[i] as Float32Array, [...shape]));
}

/** The linear layers of a layer that adapters change. */
const PARTS = ['attention', 'output', 'inner', 'outer'] as const;

type Encoder = Awaited<ReturnType<typeof loadBert>>;

/** Texts of one length that go through the layers together. */
const BATCH = 32;

/** A BERT whose last layers are trained by adapters (Hu et al. 2021); the layers before them run once for each text. */
export class SplitBert {
  readonly #encoder: Encoder;
  readonly #whole: Bert;
  readonly #first: Bert;
  readonly #last: readonly BertLayer[];

  private constructor(encoder: Encoder, whole: Bert, count: number) {
    const before = whole.layers.length - count;
    this.#encoder = encoder;
    this.#whole = whole;
    this.#first = { ...whole, layers: whole.layers.slice(0, before) };
    this.#last = whole.layers.slice(before);
  }

  /**
   * Reads a model.
   *
   * @param count of layers that are trained.
   */
  static async open(options: BertOptions, count: number): Promise<SplitBert> {
    const folder = locateModelFolder(options.model);
    if (folder === null) throw new UnavailableError(`model ${options.model}`, describeMissingModel(options.model));
    const encoder = await loadBert(options);
    const { tensors } = readSafetensors(join(folder, BERT_WEIGHTS), 'download the model again');
    return new SplitBert(encoder, uploadBert(tensors, readBertSizes(folder)), count);
  }

  /** D. */
  get dimension(): number {
    return this.#whole.sizes.hidden_size;
  }

  /**
   * Runs texts through all layers but the last.
   *
   * @param multiple of which every length is, by a repeated last token: fewer lengths are larger batches.
   * @param onTexts gets the number of texts that are done.
   */
  async hide(
    texts: readonly TokenText[],
    {
      multiple = 1,
      onTexts = () => {},
    }: { readonly multiple?: number; readonly onTexts?: (done: number) => void } = {},
  ): Promise<HiddenText[]> {
    const spans = this.#encoder.listSpans(
      texts.map(({ text }) => text),
      { owners: texts.map(({ owner }) => owner), context: texts.map(({ context }) => context ?? []) },
    );
    const padded = spans.map(({ ids }) => {
      const missing = Math.ceil(ids.length / multiple) * multiple - ids.length;
      return [...ids, ...new Array<number>(missing).fill(ids.at(-1) as number)];
    });
    const hidden: HiddenText[] = [];
    let done = 0;
    for (const batch of batchByLength(padded, BATCH)) {
      const ids = batch.map((text) => padded[text]!);
      const length = ids[0]!.length;
      const rows = await readBack('hidden', () => runBert(this.#first, Int32Array.from(ids.flat()), length));
      const size = rows.length / batch.length;
      for (const [i, text] of batch.entries()) {
        const { start, end } = spans[text]!;
        hidden[text] = { states: rows.slice(i * size, (i + 1) * size), start, end };
      }
      done += batch.length;
      onTexts(done);
    }
    return hidden;
  }

  /** The shapes of the adapters of the last layers, two arrays for each linear layer. */
  listShapes(rank: number): Shapes {
    return this.#last.flatMap((layer) =>
      PARTS.flatMap((part) => {
        const [inputs, outputs] = layer[part].weight.shape;
        return [
          [inputs, rank],
          [rank, outputs],
        ] as const;
      }),
    );
  }

  /** Numbers of adapters whose second matrices are 0, so that they change nothing. */
  drawStart(rank: number, random: ReturnType<typeof createRandom>): Float64Array {
    return Float64Array.from(
      this.listShapes(rank).flatMap(([inputs, outputs], i) =>
        Array.from({ length: inputs * outputs }, () => (i % 2 === 0 ? random.drawNormal() / Math.sqrt(inputs) : 0)),
      ),
    );
  }

  #adapt(arrays: readonly tf.Tensor[]): BertLayer[] {
    let at = 0;
    return this.#last.map((layer) => {
      const adapted = { ...layer };
      for (const part of PARTS) {
        const [down, up] = arrays.slice(at, at + 2) as [tf.Tensor2D, tf.Tensor2D];
        adapted[part] = { ...layer[part], adapter: { down, up } };
        at += 2;
      }
      return adapted;
    });
  }

  #batch(texts: readonly HiddenText[]) {
    return [
      ...batchByLength(
        texts.map(({ states }) => ({ length: states.length / this.dimension })),
        BATCH,
      ),
    ];
  }

  /** The vectors of all tokens of texts, [R, D] rows of length 1, batch by batch. Differentiable by the arrays. */
  run(texts: readonly HiddenText[], arrays: readonly tf.Tensor[]): tf.Tensor2D {
    const D = this.dimension;
    const layers = this.#adapt(arrays);
    const parts = this.#batch(texts).map((batch) => {
      const size = texts[batch[0]!]!.states.length;
      const states = new Float32Array(batch.length * size);
      for (const [i, text] of batch.entries()) states.set(texts[text]!.states, i * size);
      return scoped('lastLayers', () =>
        runBertLayers(this.#whole.sizes, layers, tf.tensor2d(states, [states.length / D, D]), size / D),
      );
    });
    return scaleToUnit(parts.length === 1 ? (parts[0] as tf.Tensor2D) : tf.concat(parts));
  }

  /** The places of all tokens of texts among the rows of {@link run}. */
  listAll(texts: readonly HiddenText[]): TokenSpans {
    const spans: (readonly [number, number])[] = [];
    let at = 0;
    for (const text of this.#batch(texts).flat()) {
      const from = at;
      at += texts[text]!.states.length / this.dimension;
      spans[text] = [from, at];
    }
    return spans;
  }

  /** The places of each text's own tokens among the rows of {@link run}. */
  listSpans(texts: readonly HiddenText[]): TokenSpans {
    return this.listAll(texts).map(([from], i) => [from + texts[i]!.start, from + texts[i]!.end]);
  }

  dispose(): void {
    this.#encoder.dispose();
    disposeBert(this.#whole);
  }
}
