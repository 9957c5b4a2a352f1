import { compareBytes } from '../../src/model/turns/tie-rule.ts';

/** A turn with an outcome that is observed some time later. */
export interface OutcomeTurn {
  readonly id: string;
  readonly text: string;
  /** Milliseconds since 1970-01-01 UTC. */
  readonly timestamp: number;
  readonly outcome: 0 | 1;
  /** Turns that are not independent share a cluster. */
  readonly cluster: string;
  readonly dev: boolean;
}

/** Turns in time order, and when their outcomes are known. */
export interface OutcomeSeries {
  readonly name: string;
  /** Where the turns come from. */
  readonly source: string;
  readonly turns: readonly OutcomeTurn[];
  /** Milliseconds from a turn to the moment at which its outcome is known, the same for both outcomes. */
  readonly delay: number;
  readonly hash: string;
  /** What was left out, by reason. */
  readonly facts: Readonly<Record<string, number>>;
}

/** In time order, ids by bytes if times are equal. */
export function sortByTime<T extends { readonly id: string; readonly timestamp: number }>(turns: readonly T[]): T[] {
  return turns.toSorted((a, b) => a.timestamp - b.timestamp || compareBytes(a.id, b.id));
}

/**
 * The outcomes that are known when a turn is asked: those of turns more than the delay earlier. A prefix of the series, since the delay is the same for all.
 *
 * @returns [turns] the length of each prefix.
 */
export function countObserved({ turns, delay }: Pick<OutcomeSeries, 'turns' | 'delay'>): Int32Array {
  let observed = 0;
  return Int32Array.from(turns, ({ timestamp }) => {
    while ((turns[observed]?.timestamp ?? Number.POSITIVE_INFINITY) + delay < timestamp) observed++;
    return observed;
  });
}
