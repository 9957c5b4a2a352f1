import { multiplyRows } from '../../core/tensors/rows.ts';
import {
  type CurationOperation,
  type CurationRuleOptions,
  decideByRules,
  readCuratedText,
} from '../../model/text/curation-rules.ts';
import { SUPERSEDED } from '../../model/turns/memory-fields.ts';
import type { MemoryRecord } from '../../model/turns/turn.ts';
import type { RecordChange } from '../changes/change-log.ts';

/** A record that is there, with the cosine of its vector to that of the new record. */
export interface Neighbour {
  readonly record: MemoryRecord;
  readonly cosine: number;
}

/** What is to be done, and why. */
export interface CurationChoice {
  readonly operation: CurationOperation;
  readonly reason: string;
  /** One of the neighbours; null for an addition. */
  readonly target: MemoryRecord | null;
}

/** Decides about a record. Neither it nor a neighbour is sensitive. */
export type CurationDecider = (record: MemoryRecord, neighbours: readonly Neighbour[]) => Promise<CurationChoice>;

/** Decides by rules on this machine. */
export function createRuleDecider(options: CurationRuleOptions): CurationDecider {
  return async ({ context }, neighbours) => {
    const known = neighbours.map(({ record, cosine }) => ({ text: readCuratedText(record.context), cosine }));
    const { operation, rule, neighbour } = decideByRules(readCuratedText(context), known, options);
    return {
      operation,
      reason: rule,
      target: neighbour === null ? null : (neighbours[neighbour]?.record as MemoryRecord),
    };
  };
}

/** The cosine of two vectors of one length; 0 if one has no direction. */
export function computeCosine(a: Float32Array, b: Float32Array): number {
  const product = (x: Float32Array, y: Float32Array) => multiplyRows(x, 0, y, 0, x.length);
  const lengths = Math.sqrt(product(a, a) * product(b, b));
  return lengths === 0 ? 0 : product(a, b) / lengths;
}

const change = (before: MemoryRecord | null, after: MemoryRecord): RecordChange => {
  return { id: after.id, before, after, withheld: false };
};

/** The target with the text, the vector and the time of the new record; it keeps its id and what was observed of it. */
function mergeRecords(target: MemoryRecord, record: MemoryRecord): MemoryRecord {
  const { context, embedding, createdAt } = record;
  const metadata = { ...target.metadata, ...record.metadata };
  return { ...target, context, embedding, createdAt, metadata, outcome: record.outcome ?? target.outcome };
}

/** What a choice does to the records. A contradicted record stays, as a tombstone of low importance. */
export function listChanges(
  record: MemoryRecord,
  { operation, target }: CurationChoice,
  tombstoneImportance: number,
): RecordChange[] {
  if (operation === 'noop') return [];
  if (target === null || operation === 'add') return [change(null, record)];
  if (operation === 'update') return [change(target, mergeRecords(target, record))];
  const marks = { importance: tombstoneImportance, status: SUPERSEDED, supersededBy: record.id };
  return [change(target, { ...target, metadata: { ...target.metadata, ...marks } }), change(null, record)];
}
