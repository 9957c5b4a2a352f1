import type { Query } from '../../model/dataset.ts';
import type { Conversation } from '../../model/turns/conversation.ts';
import { type Corpus, findLowerBound } from '../../model/turns/corpus.ts';
import type { Turn } from '../../model/turns/turn.ts';
import { ANCESTOR, PARENT, SAME_THREAD } from './prepared.ts';

/** A question mark that ends a sentence; one inside an address such as `x.org/?id=7` does not. */
const ASKS = /\s(?<=\?[?!"')\]]*\s)|$(?<=\?[?!"')\]]*)/;

/** True if a message asks a question; reports separate questions and statements. */
export function classifyQuery(text: string): 'question' | 'statement' {
  return ASKS.test(text) ? 'question' : 'statement';
}

export function replyQueryId(turnId: string): string {
  return `q-${turnId}`;
}

/** The query of a turn for the turn that it answers. @param cluster the unit of resampling */
export function replyQuery(
  { id, text, timestamp, author, channel }: Turn,
  split: Query['split'],
  cluster: string,
): Query {
  return {
    id: replyQueryId(id),
    turnId: id,
    text,
    timestamp,
    anchorTurnId: null,
    author,
    channel,
    kind: classifyQuery(text),
    split,
    cluster,
  };
}

/** A map whose values are computed on access. */
abstract class ComputedMap<V> implements ReadonlyMap<string, V> {
  abstract readonly size: number;
  abstract get(key: string): V | undefined;
  abstract entries(): Generator<[string, V], undefined>;

  has(key: string): boolean {
    return this.get(key) !== undefined;
  }

  *keys(): Generator<string, undefined> {
    for (const [key] of this.entries()) yield key;
  }

  *values(): Generator<V, undefined> {
    for (const [, value] of this.entries()) yield value;
  }

  [Symbol.iterator](): Generator<[string, V], undefined> {
    return this.entries();
  }

  forEach(visit: (value: V, key: string, map: ReadonlyMap<string, V>) => void): void {
    for (const [key, value] of this.entries()) visit(value, key, this);
  }
}

/** A thread in time order, and which of its turns are above which. */
class Thread {
  readonly turns: readonly Turn[];
  /** [T] ascending. */
  readonly times: Float64Array;
  readonly #turnIndexes: ReadonlyMap<string, number>;
  /** [T] places in a walk down the tree: what is below a turn is entered from its own place on and before its end. */
  readonly #entered: Int32Array;
  readonly #ended: Int32Array;

  constructor(conversation: Conversation) {
    this.turns = conversation.turns;
    this.times = Float64Array.from(this.turns, ({ timestamp }) => timestamp);
    this.#turnIndexes = new Map(this.turns.map(({ id }, turnIndex) => [id, turnIndex]));
    this.#entered = new Int32Array(this.turns.length);
    this.#ended = new Int32Array(this.turns.length);
    this.#walk(conversation);
  }

  #walk(conversation: Conversation): void {
    let entered = 0;
    const open: { readonly turnIndex: number; readonly end: boolean }[] = conversation
      .listRoots()
      .map(({ id }) => ({ turnIndex: this.turnIndex(id) as number, end: false }));
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      if (at.end) {
        this.#ended[at.turnIndex] = entered;
        continue;
      }
      this.#entered[at.turnIndex] = entered++;
      open.push({ turnIndex: at.turnIndex, end: true });
      for (const { id } of conversation.listChildren((this.turns[at.turnIndex] as Turn).id))
        open.push({ turnIndex: this.turnIndex(id) as number, end: false });
    }
  }

  turnIndex(id: string): number | undefined {
    return this.#turnIndexes.get(id);
  }

  isAbove(turnIndex: number, lower: number): boolean {
    const entered = this.#entered[lower] as number;
    return (this.#entered[turnIndex] as number) < entered && entered < (this.#ended[turnIndex] as number);
  }
}

/** The judgements of a reply: parent 3, other ancestors 2, other strictly earlier turns of the thread 1. In time order. */
class ThreadGrades extends ComputedMap<number> {
  /** The number of turns of the thread strictly earlier than the reply. */
  readonly size: number;
  readonly #thread: Thread;
  readonly #reply: number;

  constructor(thread: Thread, reply: Turn) {
    super();
    this.#thread = thread;
    this.#reply = thread.turnIndex(reply.id) as number;
    this.size = findLowerBound(thread.times, reply.timestamp);
  }

  get(id: string): number | undefined {
    const turnIndex = this.#thread.turnIndex(id);
    return turnIndex === undefined || turnIndex >= this.size ? undefined : this.#gradePlace(turnIndex);
  }

  *entries(): Generator<[string, number], undefined> {
    for (let turnIndex = 0; turnIndex < this.size; turnIndex++)
      yield [(this.#thread.turns[turnIndex] as Turn).id, this.#gradePlace(turnIndex)];
  }

  #gradePlace(turnIndex: number): number {
    const { turns } = this.#thread;
    if ((turns[turnIndex] as Turn).id === (turns[this.#reply] as Turn).parentId) return PARENT;
    return this.#thread.isAbove(turnIndex, this.#reply) ? ANCESTOR : SAME_THREAD;
  }
}

/**
 * The judgements of queries that are turns of their conversations, in the order of the queries. They follow from the trees, so none of them is kept: in a thread of N
 * replies there are N² / 2.
 */
export class ReplyJudgements extends ComputedMap<ReadonlyMap<string, number>> {
  readonly #corpus: Corpus;
  readonly #turnIds: ReadonlyMap<string, string>;
  readonly #threads = new Map<string, Thread>();

  /** @param queries that all have a `turnId`. */
  constructor(corpus: Corpus, queries: readonly Query[]) {
    super();
    this.#corpus = corpus;
    this.#turnIds = new Map(queries.map(({ id, turnId }) => [id, turnId as string]));
  }

  get size(): number {
    return this.#turnIds.size;
  }

  get(queryId: string): ReadonlyMap<string, number> | undefined {
    const turnId = this.#turnIds.get(queryId);
    if (turnId === undefined) return undefined;
    const reply = this.#corpus.getTurn(turnId);
    let thread = this.#threads.get(reply.conversationId);
    if (thread === undefined) {
      thread = new Thread(this.#corpus.getConversation(reply.conversationId));
      this.#threads.set(reply.conversationId, thread);
    }
    return new ThreadGrades(thread, reply);
  }

  *entries(): Generator<[string, ReadonlyMap<string, number>], undefined> {
    for (const queryId of this.#turnIds.keys()) yield [queryId, this.get(queryId) as ReadonlyMap<string, number>];
  }
}
