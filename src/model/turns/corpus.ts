import {
  buildTableBundle,
  DISPLAY,
  type MimeBundle,
  phrase,
  type ShowableText,
  stateShown,
} from '../../core/display/display.ts';
import { ValidationError } from '../../core/errors/errors.ts';
import { formatMinute } from '../../core/text/format.ts';
import { getOrCompute } from '../../core/values/once.ts';
import { Conversation, compareTurns } from './conversation.ts';
import { extendRanks, rankIdsDescending } from './tie-rule.ts';
import type { Turn } from './turn.ts';

/** For each conversation of the corpus the positions of its turns, ascending: its turns in ring order. */
export function listConversationPositions(corpus: Corpus): Int32Array[] {
  const positions = corpus.conversations.map((conversation) => new Int32Array(conversation.turns.length));
  for (let position = 0; position < corpus.size; position++) {
    const conversation = positions[corpus.conversationOf[position] as number] as Int32Array;
    conversation[corpus.ringPosition[position] as number] = position;
  }
  return positions;
}

/** Positions of the turns of one conversation. @param place its index in `corpus.conversations`. */
export function listPositions(corpus: Corpus, place: number): Int32Array {
  return Int32Array.from(corpus.conversations[place]?.turns ?? [], ({ id }) => corpus.getPosition(id));
}

/** True if the first turns of a list are those of another, the same objects. */
export function isStart(first: readonly Turn[], turns: readonly Turn[]): boolean {
  if (first.length > turns.length) return false;
  for (let i = 0; i < first.length; i++) if (first[i] !== turns[i]) return false;
  return true;
}

function startsWithIds(turns: readonly Turn[], first: readonly Turn[]): boolean {
  if (first.length > turns.length) return false;
  for (let i = 0; i < first.length; i++) if (first[i]?.id !== turns[i]?.id) return false;
  return true;
}

const isSame = (a: readonly Turn[], b: readonly Turn[]) => a.length === b.length && isStart(a, b);

/**
 * All turns of a dataset in time order. A turn's **position** is its place in that order, so "everything before moment t" is a prefix: the turns at
 * positions below `cutoff(t)`. N turns.
 */
export class Corpus {
  readonly turns: readonly Turn[];
  readonly conversations: readonly Conversation[];
  /** [N] index into `conversations`. */
  readonly conversationOf: Int32Array;
  /** [N] index of the turn in its conversation's time order, its ring position. */
  readonly ringPosition: Int32Array;
  /** [N] position of the parent, -1 for a root. */
  readonly parent: Int32Array;
  /** [N] milliseconds since 1970. */
  readonly timestamps: Float64Array;
  /** Positions of the turns of this corpus, and of those that were made from it: each knows its own. */
  readonly #positions: Map<string, number>;
  /** The index of each conversation, shared in the same way. */
  readonly #places: Map<string, number>;
  #tieRanks: Int32Array | null = null;

  /**
   * @param before a corpus with turns that this one has too: conversations that are the same are taken from it. Where the
   *   list begins with its turns, and the others are later in the order of time, only these are read.
   * @throws ValidationError for a duplicate id, a missing parent, a cycle, an empty text, a time that is not finite, or
   *   a child before its parent.
   */
  constructor(turns: readonly Turn[], before?: Corpus) {
    const start = before === undefined ? null : Corpus.#findStart(turns, before);
    this.turns = start === null ? [...turns].sort(compareTurns) : [...turns];
    this.timestamps = fillFirst(new Float64Array(this.size), start?.timestamps);
    this.conversationOf = fillFirst(new Int32Array(this.size), start?.conversationOf);
    this.ringPosition = fillFirst(new Int32Array(this.size), start?.ringPosition);
    this.parent = fillFirst(new Int32Array(this.size), start?.parent);
    [this.#positions, this.#places] = start === null ? [new Map(), new Map()] : [start.#positions, start.#places];
    const conversations = [...(start?.conversations ?? [])];
    for (const [id, group] of this.#enter(start?.size ?? 0)) {
      const known = before?.findConversation(id) ?? null;
      const own = start === null || known === null ? group : [...known.turns, ...group];
      const place = this.#places.get(id) ?? conversations.length;
      this.#places.set(id, place);
      conversations[place] = known !== null && isSame(known.turns, own) ? known : new Conversation(id, own);
      for (const [i, turn] of group.entries()) this.#locate(turn, place, own.length - group.length + i);
    }
    this.conversations = conversations;
    if (before !== undefined) this.#takeRanks(before);
  }

  /** The corpus before, if the other turns of a list are later, and no other corpus was made from it so; else null. */
  static #findStart(turns: readonly Turn[], before: Corpus): Corpus | null {
    if (!isStart(before.turns, turns)) return null;
    if (before.#positions.size > before.size || before.#places.size > before.conversations.length) return null;
    for (let i = Math.max(before.size, 1); i < turns.length; i++)
      if (compareTurns(turns[i - 1] as Turn, turns[i] as Turn) >= 0) return null;
    return before;
  }

  #takeRanks(before: Corpus): void {
    const isStart = this.#positions === before.#positions || startsWithIds(this.turns, before.turns);
    if (before.#tieRanks !== null && isStart) this.#tieRanks = extendRanks(this.turns, before.#tieRanks);
  }

  /** Takes in the turns from a position on, and groups them by their conversations. */
  #enter(first: number): Map<string, Turn[]> {
    const groups = new Map<string, Turn[]>();
    for (const [i, turn] of this.turns.slice(first).entries()) {
      assertTurn(turn);
      if (this.#positions.has(turn.id))
        throw new ValidationError(`duplicate turn id: ${turn.id}; rename one turn`, { turnId: turn.id });
      this.#positions.set(turn.id, first + i);
      this.timestamps[first + i] = turn.timestamp;
      getOrCompute(groups, turn.conversationId, () => []).push(turn);
    }
    return groups;
  }

  /** @throws ValidationError for a turn before its parent. */
  #locate(turn: Turn, place: number, ring: number): void {
    const position = this.getPosition(turn.id);
    this.conversationOf[position] = place;
    this.ringPosition[position] = ring;
    if (turn.parentId === null) return;
    this.parent[position] = this.getPosition(turn.parentId);
    const parent = this.turns[this.parent[position]] as Turn;
    if (parent.timestamp > turn.timestamp)
      throw new ValidationError(
        `turn is before its parent ${parent.id}: ${turn.id}; correct its time or its parentId`,
        {
          turnId: turn.id,
          parentId: parent.id,
        },
      );
  }

  /** [N] the rank that the tie rule gives each turn among equal scores. */
  get tieRanks(): Int32Array {
    this.#tieRanks ??= rankIdsDescending(this.turns.map(({ id }) => id));
    return this.#tieRanks;
  }

  get size(): number {
    return this.turns.length;
  }

  /** True if the first turns of this corpus are those of another; O(1) where it was made from the other. */
  startsWith(other: Corpus): boolean {
    return (this.#positions === other.#positions && this.size >= other.size) || isStart(other.turns, this.turns);
  }

  has(id: string): boolean {
    return this.findPosition(id) >= 0;
  }

  getPosition(id: string): number {
    const position = this.findPosition(id);
    if (position < 0)
      throw new ValidationError(`corpus has no turn: ${id}; use the id of one of its turns`, { turnId: id });
    return position;
  }

  /** -1 for an id that no turn has. */
  findPosition(id: string): number {
    const position = this.#positions.get(id) ?? -1;
    return position < this.size ? position : -1;
  }

  getTurn(id: string): Turn {
    return this.turns[this.getPosition(id)] as Turn;
  }

  getConversation(id: string): Conversation {
    return this.conversations[this.getPlace(id)] as Conversation;
  }

  /** The index of a conversation in {@link conversations}. @throws ValidationError for an id that none has. */
  getPlace(id: string): number {
    const place = this.#places.get(id);
    if (place === undefined || place >= this.conversations.length)
      throw new ValidationError(`corpus has no conversation: ${id}; use the id of one of its conversations`, {
        conversationId: id,
      });
    return place;
  }

  /** null for an id that no conversation has. */
  findConversation(id: string): Conversation | null {
    return this.conversations[this.#places.get(id) ?? -1] ?? null;
  }

  /** The number of turns strictly earlier than a time: the admissible prefix. */
  countEarlierTurns(timestamp: number): number {
    return findLowerBound(this.timestamps, timestamp);
  }

  /** The largest conversations, for a notebook. */
  [DISPLAY](): MimeBundle {
    const largest = [...this.conversations].sort((a, b) => b.turns.length - a.turns.length).slice(0, 10);
    const rows = largest.map(({ id, turns }) => {
      const [first, last] = [turns[0] as Turn, turns.at(-1) as Turn];
      return { conversation: stateShown(id), turns: turns.length, first: formatDay(first), last: formatDay(last) };
    });
    const caption = phrase`corpus of ${this.size} turns in ${this.conversations.length} conversations; the largest are`;
    return buildTableBundle(rows, { caption });
  }
}

/**
 * The number of leading values of an ascending array that are below `value`.
 *
 * @param start the begin of the ascending part of the array, and `end` its end; the result is between them.
 */
export function findLowerBound(ascending: ArrayLike<number>, value: number, start = 0, end = ascending.length): number {
  let low = start;
  let high = end;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ascending[middle] as number) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The day of a turn in UTC. */
function formatDay({ timestamp }: Turn): ShowableText {
  return stateShown(formatMinute(timestamp).slice(0, 10));
}

/** Half a surrogate pair has no UTF-8: two such ids would be one in a run file. */
const HALF_PAIR = /\p{Cs}/u;

function assertTurn(turn: Turn): void {
  for (const id of [turn.id, turn.conversationId])
    if (HALF_PAIR.test(id))
      throw new ValidationError(
        `id has half a surrogate pair, which a file cannot store: ${JSON.stringify(id)}; rename it`,
        {
          turnId: turn.id,
        },
      );
  if (turn.text.trim() === '')
    throw new ValidationError(`turn has an empty text: ${turn.id}; add a text or remove the turn`, { turnId: turn.id });
  if (!Number.isFinite(turn.timestamp))
    throw new ValidationError(
      `time of turn ${turn.id} is not finite: ${turn.timestamp}; give its milliseconds since 1970`,
      { turnId: turn.id },
    );
}

/** Fills an array with the numbers of a shorter one, and with -1 after these. */
function fillFirst<T extends Int32Array | Float64Array>(array: T, first?: T): T {
  array.fill(-1);
  if (first !== undefined) array.set(first);
  return array;
}
