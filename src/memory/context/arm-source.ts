import { type Attributes, isSensitive } from '../../model/turns/memory-fields.ts';
import { type MemoryRecord, toTurn } from '../../model/turns/turn.ts';
import type { ArmQuestion, RankedRecords } from '../engine/query-response.ts';
import { type ContextItem, type ContextSource, describeRank, describeTurn, type SourceRequest } from './source.ts';

/** A memory that answers by an arm, as a source asks it. */
export interface ArmMemory {
  /** The number of its changes so far. */
  readonly sequence: number;
  ask(question: ArmQuestion): Promise<RankedRecords>;
  get(id: string): MemoryRecord | null;
}

/** An item that an arm ranked, with the parts of its score. */
export interface RankedItem extends ContextItem {
  /** By name, such as `bm25` or `decay`. */
  readonly parts: Readonly<Record<string, number>>;
}

/** Options of a source over an arm. */
export interface ArmSourceOptions {
  /** More of the question, such as its author; the text, the moment and the session are those of the request. */
  readonly question?: Omit<ArmQuestion, 'text' | 'asOf' | 'conversationId'>;
  /** Gets each sensitive record that is left out. */
  readonly onWithheld?: (record: MemoryRecord) => void;
}

/**
 * A source of {@link assemble} over a memory that answers by an arm: its records as they are when the question is
 * asked, in the order of the arm. Nothing is copied, so that opening it costs nothing, and a record that was removed is
 * in no later answer. Sensitive records are left out, unless the question has the attribute `sensitive: true`: its
 * prompt must stay on this machine.
 */
export function createArmSource(
  memory: ArmMemory,
  { question = {}, onWithheld }: ArmSourceOptions = {},
): ContextSource {
  const staysHere = isSensitive({ attributes: (question.attributes ?? {}) as Attributes });
  const withholds = ({ metadata }: MemoryRecord) => !staysHere && isSensitive({ attributes: metadata });
  const answer = async ({ query, k, session, now }: SourceRequest): Promise<RankedItem[]> => {
    const scope = session === null ? {} : { conversationId: session };
    const { ranking } = await memory.ask({ ...question, ...scope, text: query, asOf: now });
    const items: RankedItem[] = [];
    for (const { id, score, parts } of ranking) {
      const record = memory.get(id); // it may have been removed meanwhile
      if (record === null) continue;
      if (withholds(record)) onWithheld?.(record);
      else
        items.push({
          ...describeTurn(toTurn(record), score),
          why: describeRank(items.length + 1, score, parts),
          parts,
        });
    }
    return items.slice(0, k);
  };
  return Object.assign(answer, { readVersion: () => memory.sequence });
}
