import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs-core';
import { UnavailableError } from '../../src/core/errors/errors.ts';
import { readSafetensors } from '../../src/core/files/safetensors.ts';
import { readBack, scoped } from '../../src/core/tensors/scope.ts';
import type { StartProgress } from '../../src/core/terminal/progress.ts';
import { loadBert, readBertSizes } from '../../src/index/encoders/bert.ts';
import { BERT_WEIGHTS, type BertOptions } from '../../src/index/encoders/encoder-options.ts';
import { batchByLength } from '../../src/index/encoders/length-batches.ts';
import { describeMissingModel, locateModelFolder } from '../../src/index/encoders/models/model-location.ts';
import { quantiseTokens } from '../../src/index/encoders/token-cache.ts';
import type { StoredTokens, TokenText } from '../../src/model/encoder.ts';
import { type Bert, type BertLayer, disposeBert, runBert, runBertLayers, uploadBert } from '../../src/ops/bert/bert.ts';
import { scaleToUnit } from '../../src/ops/late/token-projection.ts';
import { type TokenForm, type TokenSpans, uploadArrays } from './token-model.ts';
import type { TokenQuestions } from './token-questions.ts';

/** A text as the layer before the trained ones gives it. */
interface HiddenText {
  /** Row-major [T, D] of all tokens that the model reads. */
  readonly states: Float32Array;
  /** The first of the text's own tokens, and the one after its last. */
  readonly start: number;
  readonly end: number;
}

/** The linear layers of a layer that adapters change. */
const PARTS = ['attention', 'output', 'inner', 'outer'] as const;

/** Texts of one length that go through the layers together. */
const BATCH = 32;

/** The input of the last layers of a BERT: the texts of a task, run through the layers before them once. */
export class LastLayers {
  readonly #bert: Bert;
  readonly #last: readonly BertLayer[];
  readonly #turns: ReadonlyMap<number, HiddenText>;
  readonly #questions: readonly HiddenText[];

  private constructor(
    bert: Bert,
    count: number,
    turns: ReadonlyMap<number, HiddenText>,
    questions: readonly HiddenText[],
  ) {
    this.#bert = bert;
    this.#last = bert.layers.slice(-count);
    this.#turns = turns;
    this.#questions = questions;
  }

  /**
   * Runs the texts of a task through all layers but the last.
   *
   * @param count of layers that are trained.
   */
  static async open(
    options: BertOptions,
    { turns, questions }: { readonly turns: ReadonlyMap<number, TokenText>; readonly questions: readonly TokenText[] },
    count: number,
    progress: StartProgress,
  ): Promise<LastLayers> {
    const folder = locateModelFolder(options.model);
    if (folder === null) throw new UnavailableError(`model ${options.model}`, describeMissingModel(options.model));
    const encoder = await loadBert(options);
    const texts = [...turns.values(), ...questions];
    const spans = encoder.listSpans(
      texts.map(({ text }) => text),
      { owners: texts.map(({ owner }) => owner), context: texts.map(({ context }) => context ?? []) },
    );
    encoder.dispose();
    const { tensors } = readSafetensors(join(folder, BERT_WEIGHTS), 'download the model again');
    const whole = uploadBert(tensors, readBertSizes(folder));
    const first = { ...whole, layers: whole.layers.slice(0, -count) };
    const hidden: HiddenText[] = [];
    const stage = progress('layers before the trained ones', texts.length);
    let done = 0;
    for (const batch of batchByLength(
      spans.map(({ ids }) => ids),
      BATCH,
    )) {
      const ids = batch.map((text) => spans[text]!.ids);
      const length = ids[0]!.length;
      const rows = await readBack('hidden', () => runBert(first, Int32Array.from(ids.flat()), length));
      const size = rows.length / batch.length;
      for (const [i, text] of batch.entries()) {
        const { start, end } = spans[text]!;
        hidden[text] = { states: rows.slice(i * size, (i + 1) * size), start, end };
      }
      done += batch.length;
      stage.update(done);
    }
    stage.finish(`${texts.length} texts`);
    const keys = [...turns.keys()];
    return new LastLayers(whole, count, new Map(keys.map((key, i) => [key, hidden[i]!])), hidden.slice(keys.length));
  }

  /** Adapters of the last layers, whose second matrices are 0 at the start. */
  createForm(rank: number): TokenForm {
    const shapes = this.#last.flatMap((layer) =>
      PARTS.flatMap((part) => {
        const [inputs, outputs] = layer[part].weight.shape;
        return [
          [inputs, rank],
          [rank, outputs],
        ] as const;
      }),
    );
    const listTurns = (positions: readonly number[]) => positions.map((position) => this.#turns.get(position)!);
    return {
      shapes,
      drawStart: (random) =>
        Float64Array.from(
          shapes.flatMap(([inputs, outputs], i) =>
            Array.from({ length: inputs * outputs }, () => (i % 2 === 0 ? random.drawNormal() / Math.sqrt(inputs) : 0)),
          ),
        ),
      listSpans: ({ positions }) => this.#listSpans(listTurns(positions)),
      embed: (arrays, { positions, queries }) => ({
        turns: this.#run(listTurns(positions), arrays),
        questions: this.#pickOwn(
          queries.map((query) => this.#questions[query]!),
          arrays,
        ),
      }),
    };
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
    const { hidden_size: D } = this.#bert.sizes;
    return [
      ...batchByLength(
        texts.map(({ states }) => ({ length: states.length / D })),
        BATCH,
      ),
    ];
  }

  /** The vectors of all tokens of texts, [R, D] rows of length 1, batch by batch. */
  #run(texts: readonly HiddenText[], arrays: readonly tf.Tensor[]): tf.Tensor2D {
    const { sizes } = this.#bert;
    const { hidden_size: D } = sizes;
    const layers = this.#adapt(arrays);
    const parts = this.#batch(texts).map((batch) => {
      const size = texts[batch[0]!]!.states.length;
      const states = new Float32Array(batch.length * size);
      for (const [i, text] of batch.entries()) states.set(texts[text]!.states, i * size);
      return scoped('lastLayers', () =>
        runBertLayers(sizes, layers, tf.tensor2d(states, [states.length / D, D]), size / D),
      );
    });
    return scaleToUnit(parts.length === 1 ? (parts[0] as tf.Tensor2D) : tf.concat(parts));
  }

  /** The places of each text's own tokens among the rows of all. */
  #listSpans(texts: readonly HiddenText[]): TokenSpans {
    const { hidden_size: D } = this.#bert.sizes;
    const spans: (readonly [number, number])[] = [];
    let at = 0;
    for (const text of this.#batch(texts).flat()) {
      const { states, start, end } = texts[text]!;
      spans[text] = [at + start, at + end];
      at += states.length / D;
    }
    return spans;
  }

  /** The vectors of the own tokens of texts, [J, D], text by text. */
  #pickOwn(texts: readonly HiddenText[], arrays: readonly tf.Tensor[]): tf.Tensor2D {
    const { hidden_size: D } = this.#bert.sizes;
    const rows = this.#run(texts, arrays);
    const own = this.#listSpans(texts).map(([start, end]) => tf.slice(rows, [start, 0], [end - start, D]));
    return own.length === 1 ? (own[0] as tf.Tensor2D) : tf.concat(own);
  }

  /** Some questions of a task, and the turns that they are compared with, with the vectors of learned arrays. */
  async encode(
    of: TokenQuestions,
    form: TokenForm,
    arrays: readonly Float32Array[],
    rows: Int32Array,
  ): Promise<TokenQuestions> {
    const { dimension, positions } = of;
    const { width } = of.table;
    const encodeAll = async (texts: readonly HiddenText[], stored: readonly StoredTokens[]) => {
      const results: StoredTokens[] = [];
      for (let from = 0; from < texts.length; from += 2 * BATCH) {
        const part = texts.slice(from, from + 2 * BATCH);
        const numbers = await readBack('encodeLastLayers', () => this.#run(part, uploadArrays(form, arrays)));
        for (const [i, [start, end]] of this.#listSpans(part).entries()) {
          const vectors = numbers.subarray(start * dimension, end * dimension);
          results.push(quantiseTokens({ ids: stored[from + i]!.ids, vectors }, dimension));
        }
      }
      return results;
    };
    const compared = new Set([...rows].flatMap((row) => [...positions.subarray(row * width, (row + 1) * width)]));
    const wanted = [...of.turns.keys()].filter((position) => compared.has(position));
    const [asked, seen] = [
      await encodeAll(
        [...rows].map((row) => this.#questions[row]!),
        [...rows].map((row) => of.questions[row]!),
      ),
      await encodeAll(
        wanted.map((position) => this.#turns.get(position)!),
        wanted.map((position) => of.turns.get(position)!),
      ),
    ];
    const questions = [...of.questions];
    for (const [i, row] of rows.entries()) questions[row] = asked[i]!;
    const turns = new Map(of.turns);
    for (const [i, position] of wanted.entries()) turns.set(position, seen[i]!);
    return { ...of, frozen: of.questions, questions, turns };
  }

  dispose(): void {
    disposeBert(this.#bert);
  }
}
