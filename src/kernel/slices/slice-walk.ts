import TinyQueue from 'tinyqueue';
import { getOrCompute } from '../../core/values/once.ts';
import type { Relation, SlicePolicy } from '../policies/policy.ts';
import { AdmissibilityError } from '../signatures/admissibility-error.ts';
import type { TurnGraph } from './turn-graph.ts';

/** A turn that a walk may visit. */
interface Reached {
  readonly position: number;
  readonly priority: number;
}

/** Where a walk starts, what exists for it, and how far it goes. */
interface SliceWalk {
  readonly graph: TurnGraph;
  readonly policy: Omit<SlicePolicy, 'id' | 'version' | 'anchor' | 'unanchored' | 'hierarchy'>;
  /** Positions, each with priority 1. */
  readonly anchors: readonly number[];
  /**
   * Only turns at positions below this exist: those that are strictly earlier than the moment, see
   * `Corpus.countEarlierTurns`.
   */
  readonly cutoff: number;
  /** A walk that takes longer throws; null or absent: no limit. */
  readonly maxSeconds?: number | null;
}

/** Visits between two looks at the clock. */
const VISITS_PER_LOOK = 1024;

/** Reads the clock now and then. @throws AdmissibilityError after the given time. */
function createTimeCheck(maxSeconds: number | null): (visits: number) => void {
  if (maxSeconds === null) return () => {};
  const end = performance.now() + 1000 * maxSeconds;
  return (visits) => {
    if (visits % VISITS_PER_LOOK === 0 && performance.now() > end)
      throw new AdmissibilityError(
        'limit',
        `walk of a slice took more than ${maxSeconds} s, after ${visits} turns; lower maxNodes of the policy or raise the limit of the kernel`,
        { maxSeconds, visits },
      );
  };
}

/**
 * The neighbours of a turn by each relation. A group of siblings, and the children of a turn, are named once in a walk:
 * the first visited member has the highest priority, and so has what it gives to the others. So a walk is linear in the
 * edges of the turns that it visits.
 */
class Neighbours {
  readonly #graph: TurnGraph;
  readonly #named = new Set<number>();

  constructor(graph: TurnGraph) {
    this.#graph = graph;
  }

  /** Roots are no siblings of each other. */
  #listSiblings(parent: number): readonly number[] {
    if (parent < 0 || this.#named.has(parent)) return [];
    this.#named.add(parent);
    return this.#graph.listChildren(parent);
  }

  list(relation: Relation, position: number): readonly number[] {
    const graph = this.#graph;
    const parent = graph.getParent(position);
    switch (relation) {
      case 'parent':
        return parent < 0 ? [] : [parent];
      case 'child':
        return graph.listChildren(position);
      case 'sibling':
        return this.#listSiblings(parent);
      case 'channel':
        return graph.lists.listBeside('channel', position);
      case 'author':
        return graph.lists.listBeside('author', position);
      case 'reference':
        return graph.listReferences(position);
    }
  }
}

type Compare = (a: Reached, b: Reached) => number;

/** Higher priority first, then id order by bytes. */
function createOrder(graph: TurnGraph): Compare {
  const compareIds = graph.createIdOrder();
  return (a, b) => b.priority - a.priority || compareIds(a.position, b.position);
}

/**
 * The first turns that a walk reaches from one turn, at most as many as it may still visit: these would be visited
 * before any other.
 */
class FirstReached {
  readonly #most: number;
  readonly #compare: Compare;
  /** The last of them is on top. */
  readonly #kept: TinyQueue<Reached>;

  constructor(most: number, compare: Compare) {
    this.#most = most;
    this.#compare = compare;
    this.#kept = new TinyQueue<Reached>([], (a, b) => compare(b, a));
  }

  /** True if a turn would be among them. */
  accepts(turn: Reached): boolean {
    const last = this.#kept.peek();
    return last === undefined || this.#kept.length < this.#most || this.#compare(turn, last) < 0;
  }

  add(turn: Reached): void {
    if (this.#kept.length === this.#most) this.#kept.pop();
    this.#kept.push(turn);
  }

  get turns(): readonly Reached[] {
    return this.#kept.data;
  }
}

/**
 * Best-first search: the turn with the highest priority is visited next, and reaches its neighbours with priority x
 * relationWeight x phaseWeight x distanceDecay, multiplied in this order, where that is above `minPriority`. It ends
 * with `maxNodes` visited turns. Source: Algorithm ADMISSIBLE_SLICE of the paper, with weights of relations and as of a
 * moment.
 *
 * @returns the priority of each visited position, in the order of the visits.
 * @throws AdmissibilityError if the walk takes longer than `maxSeconds`.
 */
export function walkSlice({
  graph,
  policy,
  anchors,
  cutoff,
  maxSeconds = null,
}: SliceWalk): ReadonlyMap<number, number> {
  const { relationWeight, phaseWeight, otherPhaseWeight, distanceDecay, minPriority, maxNodes } = policy;
  const relations = Object.entries(relationWeight).filter(([, weight]) => weight > 0) as [Relation, number][];
  const weighPhase = (position: number) => {
    const phase = graph.getPhase(position);
    return phase !== null && Object.hasOwn(phaseWeight, phase) ? (phaseWeight[phase] as number) : otherPhaseWeight;
  };
  const neighbours = new Neighbours(graph);
  const compare = createOrder(graph);
  const frontier = new TinyQueue<Reached>([], compare);
  for (const position of anchors) if (position < cutoff) frontier.push({ position, priority: 1 });
  const visited = new Map<number, number>();
  const assertTime = createTimeCheck(maxSeconds);
  for (let next = frontier.pop(); next !== undefined && visited.size < maxNodes; next = frontier.pop()) {
    if (visited.has(next.position)) continue;
    visited.set(next.position, next.priority);
    assertTime(visited.size);
    if (visited.size === maxNodes) break;
    for (const [relation, weight] of relations) {
      const first = new FirstReached(maxNodes - visited.size, compare);
      for (const position of neighbours.list(relation, next.position)) {
        if (position >= cutoff) break; // the lists ascend
        const priority = next.priority * weight * weighPhase(position) * distanceDecay;
        const turn = { position, priority };
        if (priority > minPriority && first.accepts(turn) && !visited.has(position)) first.add(turn);
      }
      for (const turn of first.turns) frontier.push(turn);
    }
  }
  return visited;
}

/** A walk by a policy of two levels. */
export interface LevelledWalk extends SliceWalk {
  readonly policy: SlicePolicy & { readonly hierarchy: NonNullable<SlicePolicy['hierarchy']> };
}

/**
 * The first level: whole conversations, in the order in which the walk meets them, as far as they fit into their share
 * of `maxNodes`. Of a conversation that does not fit it takes the turns that the walk visits.
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
 * The second level: what a walk from the first results reaches beyond the first level, within what is left of
 * `maxNodes`.
 *
 * @param admitted of the first level.
 */
export function refineAround(walk: LevelledWalk, admitted: ReadonlySet<number>): number[] {
  const left = walk.policy.maxNodes - admitted.size;
  const visits = [...walkSlice(walk).keys()];
  return visits.filter((position) => !admitted.has(position)).slice(0, Math.max(0, left));
}
