import { NotFiniteError, RagPlusPlusError } from '../../core/errors/errors.ts';
import { type FactFields, MEMORY_TYPES, readMemoryFields } from '../../model/turns/memory-fields.ts';
import { sayTurn, type Turn } from '../../model/turns/turn.ts';

/** The kinds of items of a context: a memory, a document, or a record of a database. */
export const ITEM_TYPES = Object.freeze([...MEMORY_TYPES, 'document', 'record'] as const);
/** One of {@link ITEM_TYPES}. */
export type ItemType = (typeof ITEM_TYPES)[number];

/** An item that may enter a context. */
export interface ContextItem {
  readonly id: string;
  readonly text: string;
  /** Larger is better. */
  readonly score: number;
  /** Milliseconds since 1970. */
  readonly timestamp: number;
  readonly memoryType: ItemType;
  /** The source, as the prompt names it: `memory:SESSION`, or the source of a document. */
  readonly source: string;
  /** The session that it belongs to; absent: none, as a document. */
  readonly session?: string;
  /** The trigger of a procedure. Its text is then what to do. */
  readonly trigger?: string;
  /** The sentence of a fact, which the prompt states in place of the text. */
  readonly fact?: Pick<FactFields, 'subject' | 'predicate' | 'object'>;
  /** Why it was found, for a prompt that cites: `rank 1: bm25 7.2, decay 0.93`. */
  readonly why?: string;
}

/** Predicates that read otherwise than they are written. */
const PREDICATES: ReadonlyMap<string, string> = new Map([
  ['has_property', 'has'],
  ['related_to', 'is related to'],
]);

/**
 * The text of an item that the prompt holds and whose tokens are counted: a fact as a sentence, a procedure with its
 * trigger, the text of others.
 */
export function readItemText({ text, trigger, fact }: ContextItem): string {
  if (fact !== undefined) return `${fact.subject} ${PREDICATES.get(fact.predicate) ?? fact.predicate} ${fact.object}`;
  return trigger === undefined ? text : `${trigger} ${text}`;
}

/** An item with the tokens that it takes. */
export interface CountedItem extends ContextItem {
  readonly tokens: number;
}

/** The items that fit into a budget. */
export interface Packing {
  /** In the order of the prompt. */
  readonly packed: readonly CountedItem[];
  /** The items that did not fit, in the order in which they were offered. */
  readonly left: readonly CountedItem[];
  readonly tokens: number;
}

/** The type of a turn: its attribute `memoryType`, or a document, or something that was said. */
function readType({ attributes = {} }: Turn): ItemType {
  const { memoryType, source } = attributes;
  if ((ITEM_TYPES as readonly unknown[]).includes(memoryType)) return memoryType as ItemType;
  return source === 'documents' ? 'document' : 'episodic';
}

/** A turn as the prompt shows it, with the fields of its memory type. */
export function describeTurn(turn: Turn, score: number): ContextItem {
  const { id, timestamp, author, channel, conversationId } = turn;
  const memoryType = readType(turn);
  const { trigger, action, subject, predicate, object } = readMemoryFields(turn);
  const text = (trigger !== undefined && action) || turn.text;
  const isTriple = subject !== undefined && predicate !== undefined && object !== undefined;
  return {
    ...{ id, score, timestamp, memoryType },
    text: sayTurn({ author, text }),
    source: memoryType === 'document' ? conversationId : `memory:${channel ?? conversationId}`,
    ...(memoryType !== 'document' && { session: conversationId }),
    ...(trigger !== undefined && { trigger }),
    ...(isTriple && { fact: { subject, predicate, object } }),
  };
}

/** Why an arm ranks a turn where it does: `rank 1: bm25 7.21, decay 0.93`. */
export function describeRank(rank: number, score: number, parts: Readonly<Record<string, number>>): string {
  const named = Object.entries(parts).map(([name, value]) => `${name} ${value.toPrecision(3)}`);
  return `rank ${rank}: ${named.join(', ') || score.toPrecision(3)}`;
}

/** What a source is asked for. */
export interface SourceRequest {
  readonly query: string;
  /** The most items. */
  readonly k: number;
  /** Only memories of this session; null: of all. */
  readonly session: string | null;
  /** The moment of the question in milliseconds since 1970: what is later may not be found. */
  readonly now: number;
  /** Ends when the deadline of the source is over. */
  readonly signal: AbortSignal;
}

/** What a source of several parts found, and the answer of each part. */
export interface FoundItems {
  readonly items: readonly ContextItem[];
  readonly parts: readonly SourceAnswer[];
}

/** A source of one part. */
export type ItemSource = (request: SourceRequest) => Promise<readonly ContextItem[]>;

/** Where items come from: an index of documents, a memory, a database. Best first. */
export interface ContextSource {
  (request: SourceRequest): Promise<readonly ContextItem[] | FoundItems>;
  /** The version of the items, for a source whose items change. A cache gives no context of another version. */
  readVersion?(): number;
}

/** What a source gave, or why it is left out. */
export interface SourceAnswer {
  readonly name: string;
  readonly items: readonly ContextItem[];
  /** Null: it answered in time. */
  readonly fault: string | null;
  /** Of a source of several parts: what each gave. A part with a fault is left out of `items`. */
  readonly parts?: readonly SourceAnswer[];
}

function describeFault(error: unknown): string {
  if (error instanceof RagPlusPlusError) return `${error.code}: ${error.message}`;
  return error instanceof Error ? error.message : String(error);
}

/** @throws NotFiniteError for a score or a time that has no order. */
function assertFinite(items: readonly ContextItem[]): void {
  for (const { id, score, timestamp } of items)
    for (const [name, value] of Object.entries({ score, timestamp }))
      if (!Number.isFinite(value)) throw new NotFiniteError(name, id, value);
}

/**
 * Asks a source within a time. One that fails or is late gives no items, and its fault says so.
 *
 * @param milliseconds the deadline, from now.
 * @throws the reason of `signal` if the caller ends the work.
 */
export async function askSource(
  name: string,
  source: ContextSource,
  request: Omit<SourceRequest, 'signal'>,
  milliseconds: number,
  signal?: AbortSignal,
): Promise<SourceAnswer> {
  signal?.throwIfAborted();
  const deadline = AbortSignal.timeout(milliseconds);
  const ended = signal === undefined ? deadline : AbortSignal.any([deadline, signal]);
  let stop = () => {};
  const late = new Promise<never>((_, reject) => {
    stop = () => reject(ended.reason);
    ended.addEventListener('abort', stop, { once: true });
  });
  try {
    const found = await Promise.race([source({ ...request, signal: ended }), late]);
    const parts = 'parts' in found ? { parts: found.parts } : {};
    const items = ('parts' in found ? found.items : found).slice(0, request.k);
    assertFinite(items);
    return { name, items, fault: null, ...parts };
  } catch (error) {
    signal?.throwIfAborted();
    const fault = deadline.aborted ? `no answer within ${milliseconds} ms` : describeFault(error);
    return { name, items: [], fault };
  } finally {
    ended.removeEventListener('abort', stop);
  }
}
