import { GrowingArray } from '../../core/numbers/growing-array.ts';
import { getOrCompute } from '../../core/values/once.ts';
import { type Corpus, findLowerBound } from './corpus.ts';
import type { Turn } from './turn.ts';

/** The common part of the turns around a turn: conversation and channel, or the channel alone. */
export type SessionKind = 'session' | 'channel';

/** Turns of one conversation and one channel: what was said at a sitting, or a thread on its mailing list. */
export class Sessions {
  readonly #kind: SessionKind;
  /** Sessions by the index of the conversation, 0 for all, and the channel. */
  readonly #known = new Map<number, Map<string | null, number>>();
  readonly #members: number[][] = [];
  readonly #sessionOf = new GrowingArray(new Int32Array(0));
  readonly #stepOf = new GrowingArray(new Int32Array(0));
  readonly #firsts = new GrowingArray(new Int32Array(0));

  constructor(kind: SessionKind) {
    this.#kind = kind;
  }

  /** [N] the session of each turn. */
  get sessionOf(): Int32Array {
    return this.#sessionOf.numbers;
  }

  /** [N] index in its session's time order. */
  get stepOf(): Int32Array {
    return this.#stepOf.numbers;
  }

  /** Positions of each session's turns, ascending; sessions follow the order of their first turns. */
  get members(): readonly (readonly number[])[] {
    return this.#members;
  }

  /** [sessions] position of the first turn, ascending. */
  get firsts(): Int32Array {
    return this.#firsts.numbers;
  }

  /** Takes in the turns of a corpus after those that there are, which are its first: O(1) for each. */
  append({ turns, conversationOf }: Corpus): void {
    const first = this.#sessionOf.length;
    for (const array of [this.#sessionOf, this.#stepOf]) array.extend(turns.length - first);
    const { sessionOf, stepOf } = this;
    for (let position = first; position < turns.length; position++) {
      const conversation = this.#kind === 'channel' ? 0 : (conversationOf[position] as number);
      const channels = getOrCompute(this.#known, conversation, () => new Map<string | null, number>());
      const session = getOrCompute(channels, (turns[position] as Turn).channel, () => this.#begin(position));
      sessionOf[position] = session;
      stepOf[position] = (this.#members[session] as number[]).push(position) - 1;
    }
  }

  #begin(position: number): number {
    this.#firsts.push(position);
    return this.#members.push([]) - 1;
  }
}

/**
 * The sessions of a corpus, or of what a query asks of it.
 *
 * @param kind `channel` for those of a channel whatever their conversation, as a mailing list shows them.
 */
export function groupSessions(corpus: Corpus, kind: SessionKind = 'session'): Sessions {
  const sessions = new Sessions(kind);
  sessions.append(corpus);
  return sessions;
}

/** Counts the sessions that had begun by a cutoff. */
export function countBegunSessions({ firsts }: Sessions, cutoff: number): number {
  return findLowerBound(firsts, cutoff);
}

/** The turn `steps` turns after another in its session (before it if negative); -1 if there is none. */
export function findNeighbour({ sessionOf, stepOf, members }: Sessions, position: number, steps: number): number {
  const turns = members[sessionOf[position] as number] as readonly number[];
  const step = (stepOf[position] as number) + steps;
  return step < 0 ? -1 : (turns[step] ?? -1);
}
