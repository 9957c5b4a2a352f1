import * as tf from '@tensorflow/tfjs-core';
import { createRandom } from '../../src/core/numbers/random.ts';
import { registerGradients } from '../../src/core/tensors/gradients.ts';
import { matmul } from '../../src/core/tensors/matmul.ts';
import { readBack } from '../../src/core/tensors/scope.ts';
import { letEventsIn } from '../../src/core/terminal/progress.ts';
import type { TokenText } from '../../src/model/encoder.ts';
import { createAdamState, takeAdamStep } from '../../src/rank/learning/adam.ts';
import { computeQueryLosses, type LossOptions, uploadLossTargets } from '../../src/rank/learning/losses.ts';
import { computeValueAndGradients } from '../../src/rank/learning/objective.ts';
import { type HiddenText, type Shapes, type SplitBert, uploadArrays } from '../split-bert.ts';

/** A question with the candidates that it is trained on. */
export interface CrossQuestion {
  readonly id: string;
  /** Question and candidate as one text each, [C]. */
  readonly pairs: readonly HiddenText[];
  /** Grades of the candidates, [C]. */
  readonly grades: readonly number[];
}

/** Options of training. */
export interface CrossTraining {
  readonly seed: number;
  readonly learningRate: number;
  readonly epochs: number;
  /** Questions in a step. */
  readonly batch: number;
}

const LOSS: LossOptions = { name: 'listwise', temperature: 1 };
/** Pairs that are scored together. */
const SCORED = 256;

/** A question after a turn and at most `before` turns before it. It comes last, so that it is not cut. */
export function joinPair(question: TokenText, turn: TokenText, before: number): TokenText {
  const context = before === 0 ? [] : (turn.context ?? []).slice(-before);
  return { ...question, context: [...context, turn.text] };
}

/**
 * Scores question and turn read together: the mean of the vectors of all their tokens, times a learned vector. Learned
 * are that vector and adapters of rank `rank` in the last layers. Nogueira, Cho 2019, "Passage Re-ranking with BERT".
 */
export class CrossEncoder {
  readonly #bert: SplitBert;
  readonly #rank: number;
  readonly #shapes: Shapes;

  constructor(bert: SplitBert, rank: number) {
    this.#bert = bert;
    this.#rank = rank;
    this.#shapes = [...bert.listShapes(rank), [bert.dimension, 1]];
  }

  /** Numbers that give every pair a score of 0. */
  drawStart(seed: number): Float64Array {
    const adapters = this.#bert.drawStart(this.#rank, createRandom(seed, 'adapters of pairs'));
    const theta = new Float64Array(adapters.length + this.#bert.dimension);
    theta.set(adapters);
    return theta;
  }

  #split(theta: Float64Array): Float32Array[] {
    let at = 0;
    return this.#shapes.map(([rows, columns]) => {
      at += rows * columns;
      return Float32Array.from(theta.subarray(at - rows * columns, at));
    });
  }

  /** @param arrays those of the adapters and the learned vector. @returns [N, 1] */
  #score(pairs: readonly HiddenText[], arrays: readonly tf.Tensor[]): tf.Tensor2D {
    const rows = this.#bert.run(pairs, arrays.slice(0, -1));
    const [count] = rows.shape;
    const shares = new Float32Array(pairs.length * count);
    for (const [i, [start, end]] of this.#bert.listAll(pairs).entries())
      shares.fill(1 / (end - start), i * count + start, i * count + end);
    return matmul(matmul(tf.tensor2d(shares, [pairs.length, count]), rows), arrays.at(-1) as tf.Tensor2D);
  }

  /** The score of each pair. */
  async score(theta: Float64Array, pairs: readonly HiddenText[]): Promise<Float32Array> {
    const arrays = this.#split(theta);
    const scores = new Float32Array(pairs.length);
    for (let from = 0; from < pairs.length; from += SCORED) {
      const part = pairs.slice(from, from + SCORED);
      scores.set(await readBack('crossScores', () => this.#score(part, uploadArrays(this.#shapes, arrays))), from);
      await letEventsIn();
    }
    return scores;
  }

  /** The mean listwise loss of questions with equally many candidates each, and its gradient by all numbers. */
  async computeLoss(
    theta: Float64Array,
    questions: readonly CrossQuestion[],
  ): Promise<{ readonly loss: number; readonly gradient: Float64Array }> {
    registerGradients();
    const pairs = questions.flatMap((question) => question.pairs);
    const count = questions.length;
    const width = pairs.length / count;
    const table = {
      signals: [],
      queryIds: questions.map(({ id }) => id),
      clusters: questions.map(() => ''),
      ...{ width, values: new Float32Array(), mask: new Uint8Array(pairs.length).fill(1) },
      grades: Float32Array.from(questions.flatMap(({ grades }) => grades)),
      ...{ missed: new Int32Array(count), missedGrades: new Float32Array(), relevantGrade: 1 },
    };
    const found = await readBack('crossLoss', () => {
      const targets = uploadLossTargets(table, LOSS);
      const computeLosses = (...given: tf.Tensor[]) =>
        computeQueryLosses(tf.reshape(this.#score(pairs, given), [count, width]), targets, LOSS);
      const weights = tf.fill([count], 1 / count);
      const inputs = uploadArrays(this.#shapes, this.#split(theta));
      const { value, grads } = computeValueAndGradients(computeLosses, inputs, weights);
      return tf.concat([value, ...grads].map((part) => tf.reshape(part, [part.size])) as tf.Tensor1D[]);
    });
    const losses = found.subarray(0, count);
    return {
      loss: losses.reduce((sum, loss) => sum + loss / count, 0),
      gradient: Float64Array.from(found.subarray(count)),
    };
  }

  /** Trains from a start. @param onStep gets the number of steps that are done, and the mean loss of the last. */
  async train(
    start: Float64Array,
    questions: readonly CrossQuestion[],
    { seed, learningRate, epochs, batch }: CrossTraining,
    onStep: (done: number, loss: number) => void = () => {},
  ): Promise<Float64Array> {
    let adam = createAdamState(start);
    let done = 0;
    for (let epoch = 1; epoch <= epochs; epoch++) {
      const drawn = createRandom(seed, `epoch ${epoch} of pairs`).shuffle([...questions]);
      for (let from = 0; from < drawn.length; from += batch) {
        const { loss, gradient } = await this.computeLoss(adam.theta, drawn.slice(from, from + batch));
        adam = takeAdamStep(adam, gradient, { learningRate });
        onStep(++done, loss);
        await letEventsIn();
      }
    }
    return adam.theta;
  }
}
