import { computeHash } from '../../core/hash/hash.ts';
import { getOrCompute } from '../../core/values/once.ts';
import type { Turn } from '../../model/turns/turn.ts';

/** What was computed of turns by themselves, for as long as there is the turn. */
export class TurnResults {
  readonly #results = new Map<string, WeakMap<Turn, unknown>>();

  /**
   * @param key what is computed.
   * @param compute the results of some turns; asked for those that have none yet.
   * @returns [turns]
   */
  async computeEach<T>(
    key: unknown,
    turns: readonly Turn[],
    compute: (turns: readonly Turn[]) => Promise<readonly T[]> | readonly T[],
  ): Promise<T[]> {
    const results = getOrCompute(this.#results, computeHash(key), () => new WeakMap()) as WeakMap<Turn, T>;
    const missing = turns.filter((turn) => !results.has(turn));
    if (missing.length > 0)
      for (const [i, result] of (await compute(missing)).entries()) results.set(missing[i] as Turn, result);
    return turns.map((turn) => results.get(turn) as T);
  }
}
