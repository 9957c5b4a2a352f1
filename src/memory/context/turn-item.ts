import { readMemoryFields } from '../../model/turns/memory-fields.ts';
import type { Turn } from '../../model/turns/turn.ts';
import { type ContextItem, ITEM_TYPES, type ItemType } from './context-item.ts';

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
