import { createRandom } from '../../src/core/numbers/random.ts';
import { PACKINGS, type PackingName } from '../../src/memory/context/packing.ts';
import type { CountedItem } from '../../src/memory/context/source.ts';
import type { Run } from '../../src/model/run.ts';
import type { Scored } from '../../src/model/turns/tie-rule.ts';

/** The softmax of the scores of a ranking, which both losses of a training fit to the share of each turn in the relevance. */
function computeShares(ranking: readonly Scored[]): number[] {
  const highest = Math.max(...ranking.map(({ score }) => score));
  const powers = ranking.map(({ score }) => Math.exp(score - highest));
  const sum = powers.reduce((total, power) => total + power, 0);
  return powers.map((power) => power / sum);
}

/** The turns of a ranking as items whose score is their share. */
function listItems(ranking: readonly Scored[], countTokens: (id: string) => number): CountedItem[] {
  const shares = computeShares(ranking);
  return ranking.map(({ id }, place) => ({
    ...{ id, text: '', timestamp: 0, memoryType: 'episodic', source: '' },
    ...{ score: shares[place] as number, tokens: countTokens(id) },
  }));
}

const rankIds = (ids: readonly string[]): Scored[] => ids.map((id, place) => ({ id, score: ids.length - place }));

/** What a packing takes of each ranking within a budget, as rankings. */
export function packRankings(run: Run, packing: PackingName, budget: number, countTokens: (id: string) => number): Run {
  return new Map(
    Array.from(run, ([query, ranking]) => {
      const { packed } = PACKINGS[packing](listItems(ranking, countTokens), budget);
      return [query, rankIds(packed.map(({ id }) => id))] as const;
    }),
  );
}

/** Each ranking in the order of share per token. */
export function orderByDensity(run: Run, countTokens: (id: string) => number): Run {
  return packRankings(run, 'density', Number.MAX_SAFE_INTEGER, countTokens);
}

/**
 * The null control of the density: the turns of a ranking exchange their tokens at random before they are ordered, so that the order by density has the same
 * noise and no knowledge of the lengths.
 */
export function orderByDrawnDensity(run: Run, countTokens: (id: string) => number, seed: number): Run {
  return new Map(
    Array.from(run, ([query, ranking]) => {
      const drawn = createRandom(seed, `tokens of ${query}`).shuffle(ranking.map(({ id }) => countTokens(id)));
      const tokens = new Map(ranking.map(({ id }, place) => [id, drawn[place] as number]));
      return [
        query,
        orderByDensity(new Map([[query, ranking]]), (id) => tokens.get(id) as number).get(query)!,
      ] as const;
    }),
  );
}
