import { type ShowableText, showText } from '../../core/display/showable-text.ts';
import type { Attributes } from './attributes.ts';
import { isSensitive } from './attributes.ts';
import type { MemoryRecord } from './memory-record.ts';
import type { Turn } from './turn.ts';

/** The text of a turn for displays, reports and messages. */
export function showTurn(turn: Turn): ShowableText {
  return showText(turn.text, isSensitive(turn));
}

/** The text of a record of a memory for displays and messages. */
export function showContext({ context, metadata }: Pick<MemoryRecord, 'context' | 'metadata'>): ShowableText {
  return showText(context, isSensitive({ attributes: metadata }));
}

/** A record of a memory for displays: of a sensitive one neither the text nor what else was said about it. */
export function showRecord<T extends Pick<MemoryRecord, 'context' | 'metadata'>>(record: T) {
  const metadata = isSensitive({ attributes: record.metadata }) ? { sensitive: true } : record.metadata;
  return { ...record, context: showContext(record), metadata };
}

/** The text of a query for reports. It is sensitive by its attribute, or by that of the turn that it is. */
export function showQuery(
  query: { readonly text: string; readonly turnId?: string; readonly attributes?: Attributes },
  corpus: { getTurn(id: string): Turn },
): ShowableText {
  const isTurn = query.turnId !== undefined && isSensitive(corpus.getTurn(query.turnId));
  return showText(query.text, isSensitive(query) || isTurn);
}
