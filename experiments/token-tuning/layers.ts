import * as tf from '@tensorflow/tfjs-core';
import { readBack } from '../../src/core/tensors/scope.ts';
import type { StartProgress } from '../../src/core/terminal/progress.ts';
import type { BertOptions } from '../../src/index/encoders/encoder-options.ts';
import { quantiseTokens } from '../../src/index/encoders/token-cache.ts';
import type { StoredTokens, TokenText } from '../../src/model/encoder.ts';
import { type HiddenText, SplitBert, uploadArrays } from '../split-bert.ts';
import type { TokenForm } from './token-model.ts';
import type { TokenQuestions } from './token-questions.ts';

/** Texts whose vectors are read back together. */
const READ = 64;

/** The input of the last layers of a BERT: the texts of a task, run through the layers before them once. */
export class LastLayers {
  readonly #bert: SplitBert;
  readonly #turns: ReadonlyMap<number, HiddenText>;
  readonly #questions: readonly HiddenText[];

  private constructor(bert: SplitBert, turns: ReadonlyMap<number, HiddenText>, questions: readonly HiddenText[]) {
    this.#bert = bert;
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
    const bert = await SplitBert.open(options, count);
    const texts = [...turns.values(), ...questions];
    const stage = progress('layers before the trained ones', texts.length);
    const hidden = await bert.hide(texts, { onTexts: (done) => stage.update(done) });
    stage.finish(`${texts.length} texts`);
    const keys = [...turns.keys()];
    return new LastLayers(bert, new Map(keys.map((key, i) => [key, hidden[i]!])), hidden.slice(keys.length));
  }

  /** Adapters of the last layers, which change nothing at the start. */
  createForm(rank: number): TokenForm {
    const listTurns = (positions: readonly number[]) => positions.map((position) => this.#turns.get(position)!);
    return {
      shapes: this.#bert.listShapes(rank),
      drawStart: (random) => this.#bert.drawStart(rank, random),
      listSpans: ({ positions }) => this.#bert.listSpans(listTurns(positions)),
      embed: (arrays, { positions, queries }) => ({
        turns: this.#bert.run(listTurns(positions), arrays),
        questions: this.#pickOwn(
          queries.map((query) => this.#questions[query]!),
          arrays,
        ),
      }),
    };
  }

  /** The vectors of the own tokens of texts, [J, D], text by text. */
  #pickOwn(texts: readonly HiddenText[], arrays: readonly tf.Tensor[]): tf.Tensor2D {
    const { dimension: D } = this.#bert;
    const rows = this.#bert.run(texts, arrays);
    const own = this.#bert.listSpans(texts).map(([start, end]) => tf.slice(rows, [start, 0], [end - start, D]));
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
      for (let from = 0; from < texts.length; from += READ) {
        const part = texts.slice(from, from + READ);
        const numbers = await readBack('encodeLastLayers', () =>
          this.#bert.run(part, uploadArrays(form.shapes, arrays)),
        );
        for (const [i, [start, end]] of this.#bert.listSpans(part).entries()) {
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
    this.#bert.dispose();
  }
}
