import { getOrCompute } from '../../../core/values/once.ts';
import { type Corpus, findLowerBound } from '../../../model/turns/corpus.ts';
import type { Sessions } from './sessions.ts';

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
