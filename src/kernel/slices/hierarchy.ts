import { getOrCompute } from '../../core/values/once.ts';
import type { SlicePolicy } from '../policies/policy.ts';
import { type SliceWalk, walkSlice } from './slice-walk.ts';

/** A walk by a policy of two levels. */
export interface LevelledWalk extends SliceWalk {
  readonly policy: SlicePolicy & { readonly hierarchy: NonNullable<SlicePolicy['hierarchy']> };
}

/**
 * The first level: whole conversations, in the order in which the walk meets them, as far as they fit into their share of `maxNodes`. Of a conversation that does
 * not fit it takes the turns that the walk visits.
 *
 * @returns positions, of turns before the cutoff.
 */
export function admitConversations(walk: LevelledWalk): number[] {
  const { graph, policy, cutoff } = walk;
  const budget = Math.max(1, Math.floor(policy.maxNodes * policy.hierarchy.coarseShare));
  const { conversationOf, conversations } = graph.corpus;
  const visited = new Map<number, number[]>();
  for (const position of walkSlice(walk).keys())
    getOrCompute(visited, conversationOf[position] as number, () => [] as number[]).push(position);
  const admitted = new Set<number>();
  for (const [conversation, visits] of visited) {
    const { turns } = conversations[conversation] as (typeof conversations)[number];
    const whole = turns.map(({ id }) => graph.corpus.getPosition(id)).filter((position) => position < cutoff);
    const taken = admitted.size + whole.length <= budget ? whole : visits;
    for (const position of taken) if (admitted.size < budget) admitted.add(position);
  }
  return [...admitted];
}

/**
 * The second level: what a walk from the first results reaches beyond the first level, within what is left of `maxNodes`.
 *
 * @param admitted of the first level.
 */
export function refineAround(walk: LevelledWalk, admitted: ReadonlySet<number>): number[] {
  const left = walk.policy.maxNodes - admitted.size;
  const visits = [...walkSlice(walk).keys()];
  return visits.filter((position) => !admitted.has(position)).slice(0, Math.max(0, left));
}
