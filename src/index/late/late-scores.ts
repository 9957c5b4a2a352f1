import { getOrCompute } from '../../core/values/once.ts';
import {
  averageTokens,
  focusTokens,
  rankTokens,
  standardiseMaxima,
  takeNearest,
} from '../../ops/late/late-interaction.ts';
import type { LateScore } from './late-options.ts';

/** Inputs of the scores of one question with T tokens, over the n turns that it may see. */
export interface LateInputs {
  /** [n] positions, ascending. */
  readonly visible: Int32Array;
  /** Row-major [n, T]; NaN for a turn without a token. */
  readonly maxima: Float32Array;
  /** [T] inverse document frequencies of the question's pieces over the same turns, times factors of the encoder. */
  readonly weights: Float64Array;
  /** [T] */
  readonly isStop: readonly boolean[];
  /** The index among the visible turns of the turn `step` turns after another in its session; -1 if there is none. */
  readonly findNeighbour: (index: number, step: number) => number;
  /** [n] cosines of the means of the tokens. */
  readonly cosines: () => Float64Array;
}

/** Steps to the turns around. */
const NEAR = [-2, -1, 1, 2] as const;
const BESIDE = [-1, 1] as const;
/** The rate at which the share of a turn falls below that of the best. */
const SHARPNESS = 4;

/** The scores of the turns that a question may see, each computed when it is first asked for; NaN without a token. */
export class LateScores {
  readonly #inputs: LateInputs;
  readonly #known = new Map<LateScore, Float64Array>();

  constructor(inputs: LateInputs) {
    this.#inputs = inputs;
  }

  /** [n] positions of the turns, ascending. */
  get visible(): Int32Array {
    return this.#inputs.visible;
  }

  /** [n]; NaN for a question without a token too. */
  get(name: LateScore): Float64Array {
    const { visible, weights } = this.#inputs;
    if (weights.length === 0) return new Float64Array(visible.length).fill(Number.NaN);
    return getOrCompute(this.#known, name, () => LATE_SCORES[name](this.#inputs, this));
  }
}

function listNeighbours({ findNeighbour }: LateInputs, steps: readonly number[]): (index: number) => number[] {
  return (index) => steps.map((step) => findNeighbour(index, step)).filter((other) => other >= 0);
}

/** The maxima over each turn and the turns beside it. */
function widenMaxima({ maxima, weights, ...inputs }: LateInputs): Float32Array {
  const count = weights.length;
  const neighbours = listNeighbours({ maxima, weights, ...inputs }, BESIDE);
  const widened = maxima.slice();
  for (let turn = 0; turn < inputs.visible.length; turn++)
    for (const other of neighbours(turn))
      for (let t = 0; t < count; t++) {
        const value = maxima[other * count + t] as number;
        if (!(value <= (widened[turn * count + t] as number)) && !Number.isNaN(value))
          widened[turn * count + t] = value;
      }
  return widened;
}

/** The smallest of the maxima of a turn over the tokens that are no stop words, over all where there is no other. */
function takeMinimum({ visible, maxima, isStop }: LateInputs): Float64Array {
  const count = isStop.length;
  const all = [...isStop.keys()];
  const content = all.filter((t) => !isStop[t]);
  const tokens = content.length > 0 ? content : all;
  return Float64Array.from(visible, (_, turn) =>
    tokens.reduce((least, t) => Math.min(least, maxima[turn * count + t] as number), Number.POSITIVE_INFINITY),
  );
}

type Formula = (inputs: LateInputs, scores: LateScores) => Float64Array;

const standardise = ({ maxima, weights }: LateInputs) => standardiseMaxima(maxima, weights.length);

/** The scores of late interaction by name. */
export const LATE_SCORES = {
  zidf: (inputs) => averageTokens(standardise(inputs), inputs.weights.length, inputs.weights),
  maxsim: ({ maxima, weights }) => averageTokens(maxima, weights.length),
  standardised: (inputs) => averageTokens(standardise(inputs), inputs.weights.length),
  focused: (inputs) => focusTokens(standardise(inputs), inputs.weights.length),
  minimum: takeMinimum,
  rank: ({ maxima, weights }) => averageTokens(rankTokens(maxima, weights.length), weights.length, weights),
  share: (_, scores) => {
    const zidf = scores.get('zidf');
    const best = zidf.reduce((most, value) => (value > most ? value : most), Number.NEGATIVE_INFINITY);
    return zidf.map((value) => Math.exp(SHARPNESS * (value - best)));
  },
  near: (inputs, scores) => takeNearest(scores.get('zidf'), listNeighbours(inputs, NEAR)),
  window: ({ weights, ...inputs }) => {
    const widened = widenMaxima({ weights, ...inputs });
    return averageTokens(standardiseMaxima(widened, weights.length), weights.length, weights);
  },
  cosine: ({ cosines }) => cosines(),
} satisfies Readonly<Record<LateScore, Formula>>;
