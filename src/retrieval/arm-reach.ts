import { computeListReach, type ListLengths, type ListReach } from '../fusion/reach.ts';
import { fusesLists, listSignalIndexes, resolveFusion } from './relevance.ts';
import type { RelevanceSignal, RetrieverOptions } from './retriever-options.ts';

/** Signals that give 0 to what their own sources did not find, also where the pool is fused. */
const SCORED_BY_LIST: readonly RelevanceSignal[] = ['run', 'graph'];

/** The most turns that the sources of each signal find for a query. A signal without sources, which scores a pool, has as many as the largest source. */
function countListed({ candidates, relevance: { signals } }: RetrieverOptions): ListLengths {
  const largest = Math.max(...candidates.map(({ k }) => k));
  return Object.fromEntries(
    signals.map((signal) => {
      const own = candidates.filter(({ index }) => listSignalIndexes(signal).includes(index));
      return [signal, own.length === 0 ? largest : own.reduce((sum, { k }) => sum + k, 0)];
    }),
  );
}

/**
 * The best rank in the fused relevance of an arm that a turn of one list alone can get, see {@link computeListReach}: for every list, or, where the pool is fused,
 * for the lists outside which their signal is 0 (`graph`, `run`); every other signal scores what the sources of all found. Boosts, decay and what is blended with
 * relevance afterwards are not looked at.
 *
 * @returns nothing for an arm that fuses no lists: one of a single signal, and one that scores by a mix.
 */
export function computeArmReach(options: RetrieverOptions): readonly ListReach[] {
  const { signals, fusion } = options.relevance;
  if (signals.length < 2 || options.scoring !== null) return [];
  const isLeg = (source: string) => fusesLists(fusion) || (SCORED_BY_LIST as readonly string[]).includes(source);
  if (!signals.some(isLeg)) return [];
  return computeListReach(countListed(options), resolveFusion(fusion)).filter(({ source }) => isLeg(source));
}
