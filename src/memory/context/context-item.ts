import { type FactFields, MEMORY_TYPES, readMemoryFields } from '../../model/turns/memory-fields.ts';
import type { Turn } from '../../model/turns/turn.ts';

/** What an item of a context is: a memory, a document, or a record of a database. */
export const ITEM_TYPES = Object.freeze([...MEMORY_TYPES, 'document', 'record'] as const);
/** One of {@link ITEM_TYPES}. */
export type ItemType = (typeof ITEM_TYPES)[number];

/** What may enter a context. */
export interface ContextItem {
  readonly id: string;
  readonly text: string;
  /** Larger is better. */
  readonly score: number;
  /** Milliseconds since 1970. */
  readonly timestamp: number;
  readonly memoryType: ItemType;
  /** Where it is from, as the prompt names it: `memory:SESSION`, or the source of a document. */
  readonly source: string;
  /** The session that it belongs to; absent: none, as a document. */
  readonly session?: string;
  /** Of a procedure: when it applies. Its text is then what to do. */
  readonly trigger?: string;
  /** Of a fact: what the prompt states in the place of the text. */
  readonly fact?: Pick<FactFields, 'subject' | 'predicate' | 'object'>;
}

/** Predicates that read otherwise than they are written. */
const PREDICATES: ReadonlyMap<string, string> = new Map([
  ['has_property', 'has'],
  ['related_to', 'is related to'],
]);

/** What of an item the prompt holds and its tokens are counted of: a fact as a sentence, a procedure with its trigger, the text of others. */
export function readItemText({ text, trigger, fact }: ContextItem): string {
  if (fact !== undefined) return `${fact.subject} ${PREDICATES.get(fact.predicate) ?? fact.predicate} ${fact.object}`;
  return trigger === undefined ? text : `${trigger} ${text}`;
}

/** An item with the tokens that it takes. */
export interface CountedItem extends ContextItem {
  readonly tokens: number;
}

/** What fits into a budget. */
export interface Packing {
  /** In the order of the prompt. */
  readonly packed: readonly CountedItem[];
  /** What did not fit, in the order in which it was offered. */
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
    text: author === null ? text : `${author}: ${text}`,
    source: memoryType === 'document' ? conversationId : `memory:${channel ?? conversationId}`,
    ...(memoryType !== 'document' && { session: conversationId }),
    ...(trigger !== undefined && { trigger }),
    ...(isTriple && { fact: { subject, predicate, object } }),
  };
}
