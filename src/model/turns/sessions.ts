import { getOrCompute } from '../../core/values/once.ts';
import { type Corpus, findLowerBound } from './corpus.ts';

/** Turns of one conversation and one channel: what was said at a sitting, or a thread on its mailing list. */
export interface Sessions {
  /** [N] the session of each turn. */
  readonly sessionOf: Int32Array;
  /** [N] index in its session's time order. */
  readonly stepOf: Int32Array;
  /** Positions of each session's turns, ascending; sessions follow the order of their first turns. */
  readonly members: readonly Int32Array[];
  /** [sessions] position of the first turn, ascending. */
  readonly firsts: Int32Array;
}

/** The common part of the turns around a turn: conversation and channel, or the channel alone. */
export type SessionKind = 'session' | 'channel';

/**
 * The sessions of a corpus, or of what a query asks of it.
 *
 * @param kind `channel` for those of a channel whatever their conversation, as a mailing list shows them.
 */
export function groupSessions(corpus: Corpus, kind: SessionKind = 'session'): Sessions {
  /** Sessions by the index of the conversation, 0 for all, and the channel. */
  const known = new Map<number, Map<string | null, number>>();
  const members: number[][] = [];
  const sessionOf = new Int32Array(corpus.size);
  const stepOf = new Int32Array(corpus.size);
  for (const [position, { channel }] of corpus.turns.entries()) {
    const conversation = kind === 'channel' ? 0 : (corpus.conversationOf[position] as number);
    const channels = getOrCompute(known, conversation, () => new Map<string | null, number>());
    const session = getOrCompute(channels, channel, () => members.push([]) - 1);
    const turns = members[session] as number[];
    sessionOf[position] = session;
    stepOf[position] = turns.push(position) - 1;
  }
  return {
    sessionOf,
    stepOf,
    members: members.map((turns) => Int32Array.from(turns)),
    firsts: Int32Array.from(members, ([first]) => first as number),
  };
}

/** Counts the sessions that had begun by a cutoff. */
export function countBegunSessions({ firsts }: Sessions, cutoff: number): number {
  return findLowerBound(firsts, cutoff);
}

/** The turn `steps` turns after another in its session (before it if negative); -1 if there is none. */
export function findNeighbour({ sessionOf, stepOf, members }: Sessions, position: number, steps: number): number {
  const turns = members[sessionOf[position] as number] as Int32Array;
  return turns[(stepOf[position] as number) + steps] ?? -1;
}
