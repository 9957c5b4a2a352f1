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

/** True if the first turns of a list are those of another, the same objects. */
export function isStart(first: readonly Turn[], turns: readonly Turn[]): boolean {
  return first.length <= turns.length && first.every((turn, i) => turn === turns[i]);
}

const startsWithIds = (turns: readonly Turn[], first: readonly Turn[]) =>
  first.length <= turns.length && first.every(({ id }, i) => id === turns[i]?.id);
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
  readonly #positions: ReadonlyMap<string, number>;
  readonly #conversations: ReadonlyMap<string, Conversation>;
  #tieRanks: Int32Array | null = null;

  /**
   * @param before a corpus with turns that this one has too: conversations that are the same are taken from it.
   * @throws ValidationError for a duplicate id, a missing parent, a cycle, an empty text, a time that is not finite, or
   *   a child before its parent.
   */
  constructor(turns: readonly Turn[], before?: Corpus) {
    this.turns = [...turns].sort(compareTurns);
    const positions = new Map<string, number>();
    for (const [position, turn] of this.turns.entries()) {
      assertTurn(turn);
      if (positions.has(turn.id))
        throw new ValidationError(`duplicate turn id: ${turn.id}; rename one turn`, { turnId: turn.id });
      positions.set(turn.id, position);
    }
    this.#positions = positions;
    this.conversations = [...groupTurns(this.turns)].map(([id, group]) => {
      const known = before === undefined ? undefined : before.#conversations.get(id);
      return known !== undefined && isSame(known.turns, group) ? known : new Conversation(id, group);
    });
    this.#conversations = new Map(this.conversations.map((conversation) => [conversation.id, conversation]));
    this.conversationOf = new Int32Array(this.turns.length);
    this.ringPosition = new Int32Array(this.turns.length);
    this.parent = new Int32Array(this.turns.length).fill(-1);
    this.timestamps = Float64Array.from(this.turns, (turn) => turn.timestamp);
    for (const [index, conversation] of this.conversations.entries()) {
      for (const [ring, turn] of conversation.turns.entries()) {
        const position = this.getPosition(turn.id);
        this.conversationOf[position] = index;
        this.ringPosition[position] = ring;
        if (turn.parentId !== null) this.parent[position] = this.getPosition(turn.parentId);
      }
    }
    this.#assertOrder();
    if (before !== undefined && before.#tieRanks !== null && startsWithIds(this.turns, before.turns))
      this.#tieRanks = extendRanks(this.#listIds(), before.#tieRanks);
  }

  #listIds(): string[] {
    return this.turns.map(({ id }) => id);
  }

  /** [N] the rank that the tie rule gives each turn among equal scores. */
  get tieRanks(): Int32Array {
    this.#tieRanks ??= rankIdsDescending(this.#listIds());
    return this.#tieRanks;
  }

  #assertOrder(): void {
    for (const turn of this.turns) {
      if (turn.parentId === null) continue;
      const parent = this.getTurn(turn.parentId);
      if (parent.timestamp > turn.timestamp)
        throw new ValidationError(
          `turn is before its parent ${parent.id}: ${turn.id}; correct its time or its parentId`,
          {
            turnId: turn.id,
            parentId: parent.id,
          },
        );
    }
  }

  get size(): number {
    return this.turns.length;
  }

  has(id: string): boolean {
    return this.#positions.has(id);
  }

  getPosition(id: string): number {
    const position = this.#positions.get(id);
    if (position === undefined)
      throw new ValidationError(`corpus has no turn: ${id}; use the id of one of its turns`, { turnId: id });
    return position;
  }

  /** -1 for an id that no turn has. */
  findPosition(id: string): number {
    return this.#positions.get(id) ?? -1;
  }

  getTurn(id: string): Turn {
    return this.turns[this.getPosition(id)] as Turn;
  }

  getConversation(id: string): Conversation {
    const conversation = this.#conversations.get(id);
    if (conversation === undefined)
      throw new ValidationError(`corpus has no conversation: ${id}; use the id of one of its conversations`, {
        conversationId: id,
      });
    return conversation;
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

function groupTurns(turns: readonly Turn[]): Map<string, Turn[]> {
  const groups = new Map<string, Turn[]>();
  for (const turn of turns) {
    const group = groups.get(turn.conversationId);
    if (group === undefined) groups.set(turn.conversationId, [turn]);
    else group.push(turn);
  }
  return groups;
}
