import type { TurnGroups } from '../../../index/words/grouped-bm25.ts';
import { type Corpus, findLowerBound } from '../../../model/turns/corpus.ts';

/** Turns of one conversation and one channel: what was said at a sitting, or a thread on its mailing list. */
export interface Sessions {
  /** [N] the session of each turn. */
  readonly sessionOf: Int32Array;
  /** [N] place in its session's time order. */
  readonly stepOf: Int32Array;
  /** Positions of each session's turns, ascending; sessions follow the order of their first turns. */
  readonly members: readonly Int32Array[];
  /** [sessions] position of the first turn, ascending. */
  readonly firsts: Int32Array;
}

/** The sessions of a corpus, or of what a query asks of it. */
export function groupSessions(corpus: Corpus): Sessions {
  const known = new Map<string, number>();
  const members: number[][] = [];
  const sessionOf = new Int32Array(corpus.size);
  const stepOf = new Int32Array(corpus.size);
  for (const [position, { conversationId, channel }] of corpus.turns.entries()) {
    const name = JSON.stringify([conversationId, channel]);
    let session = known.get(name);
    if (session === undefined) {
      session = members.push([]) - 1;
      known.set(name, session);
    }
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

/** How many sessions had begun by a cutoff. */
export function countBegunSessions({ firsts }: Sessions, cutoff: number): number {
  return findLowerBound(firsts, cutoff);
}

/** The turn `steps` places after another in its session (before it if negative); -1 if there is none. */
export function findNeighbour({ sessionOf, stepOf, members }: Sessions, position: number, steps: number): number {
  const turns = members[sessionOf[position] as number] as Int32Array;
  return turns[(stepOf[position] as number) + steps] ?? -1;
}

/** Documents from the documents of each turn. */
function buildDocumentGroups(lists: readonly (readonly number[])[], validFrom: Int32Array): TurnGroups {
  const offsets = new Int32Array(lists.length + 1);
  for (const [position, documents] of lists.entries())
    offsets[position + 1] = (offsets[position] as number) + documents.length;
  return { size: validFrom.length, offsets, documents: Int32Array.from(lists.flat()), validFrom };
}

/** A document a turn: the turn with those up to `reach` steps before and after it in its session. With a reach of 0 the turn alone. */
export function buildWindowGroups(sessions: Sessions, reach: number): TurnGroups {
  const steps = Array.from({ length: 2 * reach + 1 }, (_, i) => i - reach);
  const lists = Array.from(sessions.sessionOf, (_, position) =>
    steps.map((step) => findNeighbour(sessions, position, step)).filter((other) => other >= 0),
  );
  return buildDocumentGroups(
    lists,
    Int32Array.from(lists, (_, position) => position + 1),
  );
}

/** A document a session. */
export function buildSessionGroups({ sessionOf, firsts }: Sessions): TurnGroups {
  return buildDocumentGroups(
    Array.from(sessionOf, (session) => [session]),
    firsts.map((first) => first + 1),
  );
}
