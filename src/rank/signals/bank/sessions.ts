import { getOrCompute } from '../../../core/values/once.ts';
import type { TurnGroups } from '../../../index/words/grouped-bm25.ts';
import { type Corpus, findLowerBound } from '../../../model/turns/corpus.ts';

/** The signals by ranks in time, in the order of their columns: of sessions among all, and of turns and sessions among those of a channel. */
export const RANK_SIGNALS = {
  sessions: {
    group: 'time',
    newest: {
      name: 'rank.newest@session',
      summary: '1 / (1 + other sessions with a turn after the last turn of its own)',
    },
    rank: { name: 'rank.age@session', summary: 'ln(1 + the same sessions)' },
  },
  channelTurns: {
    group: 'channel',
    newest: { name: 'rank.newest@channel', summary: '1 / (1 + turns of its channel between it and the query)' },
    rank: { name: 'rank.age@channel', summary: 'ln(1 + the same turns)' },
  },
  channelSessions: {
    group: 'channel',
    newest: {
      name: 'rank.newest@session-channel',
      summary: "`rank.newest@session` among the sessions of the query's channel; 0 if its own is not among them",
    },
    rank: {
      name: 'rank.age@session-channel',
      summary: '`rank.age@session` among them; as if its own were the oldest if it is not among them',
    },
  },
} as const;

/** How recent turns and sessions are among those of their channel. */
export class SessionRanks {
  readonly #corpus: Corpus;
  readonly #sessions: Sessions;
  /** Positions of each channel's turns, ascending; null is a channel of its own. */
  readonly #channels = new Map<string | null, number[]>();
  /** [N] place in the channel. */
  readonly #stepOf: Int32Array;

  constructor(corpus: Corpus, sessions: Sessions) {
    this.#corpus = corpus;
    this.#sessions = sessions;
    this.#stepOf = Int32Array.from(corpus.turns, ({ channel }, position) => {
      const turns = getOrCompute(this.#channels, channel, () => []);
      return turns.push(position) - 1;
    });
  }

  /** Turns of the same channel between a turn and the cutoff. */
  countChannelTurnsAfter(position: number, cutoff: number): number {
    const turns = this.#channels.get(this.#corpus.turns[position]?.channel ?? null) as number[];
    return findLowerBound(turns, cutoff) - 1 - (this.#stepOf[position] as number);
  }

  /**
   * How many other sessions (of a channel, where one is given) were spoken in since each was last spoken in.
   *
   * @returns [sessions]; -1 for those without a turn before the cutoff and those of other channels
   */
  rankSessions(cutoff: number, channel?: string | null): Int32Array {
    const { sessionOf, members } = this.#sessions;
    const ranks = new Int32Array(members.length).fill(-1);
    let rank = 0;
    for (let position = cutoff - 1; position >= 0; position--) {
      const session = sessionOf[position] as number;
      if (ranks[session] !== -1) continue;
      if (channel !== undefined && this.#corpus.turns[position]?.channel !== channel) continue;
      ranks[session] = rank++;
    }
    return ranks;
  }
}

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
