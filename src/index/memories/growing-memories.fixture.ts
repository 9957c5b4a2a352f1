import type { Random } from '../../core/numbers/random.ts';
import type { MemoryQuestion } from '../../model/candidates.ts';
import { findEntities } from '../../model/text/entities.ts';
import type { Turn } from '../../model/turns/turn.ts';
import type { IndexInput } from '../registry.ts';

/** The sources that take later turns in at their cost alone. */
export const GROWING_SOURCES: readonly IndexInput[] = [
  { index: 'entities' },
  { index: 'facts' },
  { index: 'facts', closedBy: 'author' },
  { index: 'domain', domain: {}, database: 'shop.duckdb' },
  { index: 'time' },
  { index: 'summaries' },
];

const NAMES = ['Ada', 'Bob', 'Kai Media', 'Order 17'];
const TYPES = ['episodic', 'semantic', 'semantic', 'procedural', 'summary', undefined];

const pick = <T>(from: readonly T[], source: Random): T => from[source.integer(from.length)] as T;
/** True for one of some draws. */
const isDrawn = (oneOf: number, source: Random) => source.integer(oneOf) === 0;

/** The entities of a turn, ids as canonical ones. */
function drawEntities(source: Random): string[] {
  return Array.from({ length: source.integer(4) }, () => pick(NAMES, source).toLowerCase());
}

/** The attributes of a memory: facts that close each other, some of them superseded. */
function drawAttributes(source: Random, isGiven: boolean): NonNullable<Turn['attributes']> {
  const memoryType = pick(TYPES, source);
  const fact = { subject: pick(NAMES, source), predicate: pick(['has', 'is'], source), object: pick(NAMES, source) };
  return {
    ...(memoryType && { memoryType }),
    ...(memoryType === 'semantic' && fact),
    ...(memoryType === 'summary' && isDrawn(2, source) && { scope: pick(['session', 'global'], source) }),
    ...(isDrawn(5, source) && { status: 'superseded' }),
    ...(isDrawn(2, source) && { importance: source.integer(3) / 2 }),
    ...(isGiven && isDrawn(2, source) && { entities: drawEntities(source) }),
  };
}

/** Memories of two conversations, at moments that some share. @param given from which one on some have entities. */
export function drawMemories(count: number, source: Random, given: number): Turn[] {
  return Array.from({ length: count }, (_, i) => ({
    ...{ id: `t${String(i).padStart(4, '0')}`, conversationId: pick(['a', 'b'], source), parentId: null },
    ...{ channel: null, author: pick(['ann', 'ben'], source), timestamp: Math.floor(i / 3) },
    text: `We met ${pick(NAMES, source)} and ${pick(NAMES, source)} today`,
    attributes: drawAttributes(source, i >= given),
  }));
}

/** A question of any kind about memories of less than some moment. */
export function drawQuestion(moment: number, source: Random): MemoryQuestion {
  const start = source.integer(moment + 1);
  const named = [pick(NAMES, source), pick(NAMES, source)];
  return {
    entities: [...drawEntities(source), ...findEntities(named.join(' or '))],
    window: isDrawn(2, source) ? { start, end: start + source.integer(moment + 1) } : null,
    procedural: false,
    records: named.map((name) => [name.toLowerCase(), 'ada']),
  };
}
