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
import { getOrCompute, once } from '../../core/values/once.ts';
import { Conversation, compareTurns } from './conversation.ts';
import { compareBytes, type TieOrder } from './tie-rule.ts';
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

const isSame = (a: readonly Turn[], b: readonly Turn[]) => a.length === b.length && isStart(a, b);

/** The turns of a corpus, and those of the corpora that were made from it, which begin with them. */
class SharedTurns {
  readonly turns: Turn[] = [];
  readonly conversations: Conversation[] = [];
  readonly positions = new Map<string, number>();
  readonly places = new Map<string, number>();
  /** A number for each turn, and room for more. */
  timestamps: Float64Array;
  conversationOf: Int32Array;
  ringPosition: Int32Array;
  parent: Int32Array;

  /** @param room for how many turns. */
  constructor(room: number) {
    this.timestamps = new Float64Array(room);
    this.conversationOf = new Int32Array(room);
    this.ringPosition = new Int32Array(room);
    this.parent = new Int32Array(room);
  }

  /**
   * Takes in turns that come after those that there are, at the cost of these and of their conversations.
   *
   * @param like conversations that are the same are taken from it.
   * @throws as the constructor of {@link Corpus}.
   */
  append(turns: readonly Turn[], like?: Corpus): void {
    if (this.turns.length + turns.length > this.parent.length) this.#makeRoom(this.turns.length + turns.length);
    const groups = new Map<string, Turn[]>();
    for (const turn of turns) this.#enter(turn, groups);
    for (const [id, group] of groups) {
      const place = this.places.get(id) as number;
      const own = [...(this.conversations[place]?.turns ?? []), ...group];
      const known = like?.findConversation(id) ?? null;
      this.conversations[place] = known !== null && isSame(known.turns, own) ? known : new Conversation(id, own);
      for (const turn of group) this.parent[this.positions.get(turn.id) as number] = this.#findParent(turn);
    }
  }

  #makeRoom(size: number): void {
    const copy = <T extends Int32Array | Float64Array>(from: T, to: T): T => {
      to.set(from);
      return to;
    };
    this.timestamps = copy(this.timestamps, new Float64Array(2 * size));
    this.conversationOf = copy(this.conversationOf, new Int32Array(2 * size));
    this.ringPosition = copy(this.ringPosition, new Int32Array(2 * size));
    this.parent = copy(this.parent, new Int32Array(2 * size));
  }

  #enter(turn: Turn, groups: Map<string, Turn[]>): void {
    assertTurn(turn);
    if (this.positions.has(turn.id))
      throw new ValidationError(`duplicate turn id: ${turn.id}; rename one turn`, { turnId: turn.id });
    const place = getOrCompute(this.places, turn.conversationId, () => this.places.size);
    const ring = getOrCompute(groups, turn.conversationId, () => []).push(turn) - 1;
    const position = this.turns.push(turn) - 1;
    this.positions.set(turn.id, position);
    this.timestamps[position] = turn.timestamp;
    this.conversationOf[position] = place;
    this.ringPosition[position] = (this.conversations[place]?.turns.length ?? 0) + ring;
  }

  /** The position of the parent of a turn, -1 for a root. @throws ValidationError for a turn before its parent. */
  #findParent(turn: Turn): number {
    if (turn.parentId === null) return -1;
    const position = this.positions.get(turn.parentId) as number; // its conversation has it
    const parent = this.turns[position] as Turn;
    if (parent.timestamp <= turn.timestamp) return position;
    throw new ValidationError(`turn is before its parent ${parent.id}: ${turn.id}; correct its time or its parentId`, {
      turnId: turn.id,
      parentId: parent.id,
    });
  }

  /** A copy of the first turns, and of the conversations that they are of. */
  copyFirst(size: number, conversations: number): Pick<Corpus, 'turns' | 'conversations'> {
    const isFirst = ({ id }: Turn) => (this.positions.get(id) as number) < size;
    const cut = (conversation: Conversation) =>
      conversation.turns.every(isFirst)
        ? conversation
        : new Conversation(conversation.id, conversation.turns.filter(isFirst));
    return { turns: this.turns.slice(0, size), conversations: this.conversations.slice(0, conversations).map(cut) };
  }
}

/** Corpora that another is made from. */
interface CorpusOrigin {
  /** The corpus has its turns too. Where the other ones are later, only these are read. */
  readonly after?: Corpus;
  /** Conversations that are the same are taken from it. */
  readonly like?: Corpus;
}

/**
 * All turns of a dataset in time order. A turn's **position** is its place in that order, so "everything before moment t" is a prefix: the turns at
 * positions below `cutoff(t)`. N turns.
 */
export class Corpus {
  /** [N]; where the corpus gets later turns, a list that was read before has these after its own. */
  readonly turns: readonly Turn[];
  readonly conversations: readonly Conversation[];
  /** N. */
  readonly size: number;
  /** [N] index into `conversations`. */
  readonly conversationOf: Int32Array;
  /** [N] index of the turn in its conversation's time order, its ring position. */
  readonly ringPosition: Int32Array;
  /** [N] position of the parent, -1 for a root. */
  readonly parent: Int32Array;
  /** [N] milliseconds since 1970. */
  readonly timestamps: Float64Array;
  readonly #shared: SharedTurns;

  /**
   * @throws ValidationError for a duplicate id, a missing parent, a cycle, an empty text, a time that is not finite, or
   *   a child before its parent.
   */
  constructor(turns: readonly Turn[], { after, like = after }: CorpusOrigin = {}) {
    const isAfter = after === undefined ? false : after.#isFollowedBy(turns);
    const all = after === undefined || isAfter ? turns : [...after.turns, ...turns];
    this.#shared = isAfter ? (after as Corpus).#handOver() : new SharedTurns(all.length);
    this.#shared.append([...all].sort(compareTurns), isAfter ? undefined : like);
    this.turns = this.#shared.turns;
    this.conversations = this.#shared.conversations;
    this.size = this.turns.length;
    this.timestamps = this.#shared.timestamps.subarray(0, this.size);
    this.conversationOf = this.#shared.conversationOf.subarray(0, this.size);
    this.ringPosition = this.#shared.ringPosition.subarray(0, this.size);
    this.parent = this.#shared.parent.subarray(0, this.size);
  }

  /** True if turns come after all that there are, and no corpus was made from this one yet. */
  #isFollowedBy(turns: readonly Turn[]): boolean {
    if (this.#shared.turns.length !== this.size) return false;
    const last = this.turns.at(-1);
    return last === undefined || turns.every((turn) => compareTurns(last, turn) < 0);
  }

  /** Gives its lists to a corpus with later turns; its own are copied when somebody reads them. */
  #handOver(): SharedTurns {
    const { size, conversations } = this;
    const { length } = conversations;
    const copy = once(() => this.#shared.copyFirst(size, length));
    const describe = (name: 'turns' | 'conversations') => ({ get: () => copy()[name], enumerable: true });
    Object.defineProperties(this, { turns: describe('turns'), conversations: describe('conversations') });
    return this.#shared;
  }

  /** The order in which the tie rule puts the turns at two positions. */
  get compareTies(): TieOrder {
    const { turns } = this;
    return (a, b) => compareBytes((turns[b] as Turn).id, (turns[a] as Turn).id);
  }

  /** True if the first turns of this corpus are those of another; O(1) where it was made from the other. */
  startsWith(other: Corpus): boolean {
    return (this.#shared === other.#shared && this.size >= other.size) || isStart(other.turns, this.turns);
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
    const position = this.#shared.positions.get(id) ?? -1;
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
    const place = this.#shared.places.get(id);
    if (place === undefined || place >= this.conversations.length)
      throw new ValidationError(`corpus has no conversation: ${id}; use the id of one of its conversations`, {
        conversationId: id,
      });
    return place;
  }

  /** null for an id that no conversation has. */
  findConversation(id: string): Conversation | null {
    return this.conversations[this.#shared.places.get(id) ?? -1] ?? null;
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
