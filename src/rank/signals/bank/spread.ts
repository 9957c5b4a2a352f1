import { findNeighbour, type Sessions } from './sessions.ts';

/** What is made of one score that all turns have: the score itself and what it says of the turns around. */
export const SPREAD = [
  '',
  '@share',
  '@previous-2',
  '@previous',
  '@next',
  '@next-2',
  '@session-best',
  '@session-mean',
] as const;

const STEPS = [-2, -1, 1, 2] as const;
/** The number of a session's best turns whose mean is a feature. */
const BEST = 3;

/** A score for every turn before the cutoff, spread over the turns' sessions as of then. Scratch is made once for a corpus. */
export class Spread {
  readonly #sessions: Sessions;
  /** [sessions, BEST] the best scores, descending. */
  readonly #best: Float64Array;

  constructor(sessions: Sessions) {
    this.#sessions = sessions;
    this.#best = new Float64Array(sessions.members.length * BEST);
  }

  #rank(scores: Float64Array, cutoff: number): number {
    const { sessionOf } = this.#sessions;
    const best = this.#best.fill(Number.NEGATIVE_INFINITY);
    let highest = Number.NEGATIVE_INFINITY;
    for (let position = 0; position < cutoff; position++) {
      const score = scores[position] as number;
      if (score > highest) highest = score;
      let at = (sessionOf[position] as number) * BEST + BEST - 1;
      if (score <= (best[at] as number)) continue;
      const first = at - BEST + 1;
      for (; at > first && score > (best[at - 1] as number); at--) best[at] = best[at - 1] as number;
      best[at] = score;
    }
    return highest;
  }

  /**
   * @param scores [N], of which those before the cutoff count
   * @param positions of the candidates, -1 for padding
   * @param out row-major [candidates, stride]; the {@link SPREAD} of each goes to its columns from `column` on
   */
  write(
    scores: Float64Array,
    cutoff: number,
    positions: Int32Array,
    out: { readonly values: Float32Array; readonly start: number; readonly stride: number; readonly column: number },
  ): void {
    const highest = this.#rank(scores, cutoff);
    const { sessionOf } = this.#sessions;
    for (const [i, position] of positions.entries()) {
      if (position < 0) continue;
      let at = out.start + i * out.stride + out.column;
      const score = scores[position] as number;
      out.values[at++] = score;
      out.values[at++] = highest > 0 ? score / highest : 0;
      for (const steps of STEPS) {
        const other = findNeighbour(this.#sessions, position, steps);
        out.values[at++] = other >= 0 && other < cutoff ? (scores[other] as number) : 0;
      }
      const first = (sessionOf[position] as number) * BEST;
      out.values[at++] = this.#best[first] as number;
      out.values[at++] = meanOfFinite(this.#best.subarray(first, first + BEST));
    }
  }
}

/** A session with fewer turns has a mean of those. */
function meanOfFinite(values: Float64Array): number {
  let sum = 0;
  let count = 0;
  for (const value of values) {
    if (value === Number.NEGATIVE_INFINITY) continue;
    sum += value;
    count++;
  }
  return count === 0 ? 0 : sum / count;
}
