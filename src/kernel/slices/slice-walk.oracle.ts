import { compareBytes } from '../../model/turns/tie-rule.ts';
import type { Turn } from '../../model/turns/turn.ts';
import type { SlicePolicy } from '../policies/policy.ts';

/** The neighbours of a turn among those that exist, by definition. */
function listJoined(turns: readonly Turn[], turn: Turn): readonly [keyof SlicePolicy['relationWeight'], Turn][] {
  const beside = (field: 'channel' | 'author') => {
    const group = turns.filter((other) => turn[field] !== null && other[field] === turn[field]);
    const place = group.indexOf(turn);
    return [group[place - 1], group[place + 1]].filter((other) => other !== undefined);
  };
  const names = (from: Turn, to: Turn) => ((from.attributes?.references ?? []) as readonly string[]).includes(to.id);
  const all: [keyof SlicePolicy['relationWeight'], Turn[]][] = [
    ['parent', turns.filter(({ id }) => id === turn.parentId)],
    ['child', turns.filter(({ parentId }) => parentId === turn.id)],
    ['sibling', turns.filter(({ parentId }) => parentId !== null && parentId === turn.parentId)],
    ['channel', beside('channel')],
    ['author', beside('author')],
    ['reference', turns.filter((other) => names(turn, other) || names(other, turn))],
  ];
  return all.flatMap(([relation, others]) => others.map((other) => [relation, other] as const)) as never;
}

/** The slice of a moment by its definition: every visited turn names all neighbours, and the frontier is sorted before each visit. */
export function walkByDefinition(
  all: readonly Turn[],
  policy: SlicePolicy,
  anchorTurnId: string,
  asOf: number,
): [string, number][] {
  const turns = all.filter(({ timestamp }) => timestamp < asOf);
  const visited = new Map<string, number>();
  const anchor = turns.find(({ id }) => id === anchorTurnId);
  let frontier = anchor === undefined ? [] : [{ turn: anchor, priority: 1 }];
  while (frontier.length > 0 && visited.size < policy.maxNodes) {
    frontier.sort((a, b) => b.priority - a.priority || compareBytes(a.turn.id, b.turn.id));
    const [{ turn, priority }] = frontier as [(typeof frontier)[number]];
    frontier = frontier.slice(1);
    if (visited.has(turn.id)) continue;
    visited.set(turn.id, priority);
    for (const [relation, other] of listJoined(turns, turn)) {
      const phase = other.attributes?.phase as string | undefined;
      const phaseWeight = (phase === undefined ? undefined : policy.phaseWeight[phase]) ?? policy.otherPhaseWeight;
      const next = priority * policy.relationWeight[relation] * phaseWeight * policy.distanceDecay;
      if (next > policy.minPriority) frontier.push({ turn: other, priority: next });
    }
  }
  return [...visited];
}
