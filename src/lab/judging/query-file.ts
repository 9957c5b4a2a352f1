import { basename, dirname } from 'node:path';
import { queryRow, readRows, selectUniqueRows } from '../../data/jsonl/jsonl-rows.ts';
import { RowFaults } from '../../data/jsonl/row-faults.ts';

/** A query of a file, with what is known of its making. */
export interface AuthoredQuery {
  readonly id: string;
  readonly text: string;
  /** Such as exact, paraphrase or multi-hop; null if the row has no `kind`. */
  readonly stratum: string | null;
  /** The person or model that wrote the query; null if the row does not state it. */
  readonly generator: string | null;
  /** The documents that the query was written from. */
  readonly sources: readonly string[];
  readonly sensitive: boolean;
}

/** A query that is judged needs no time. */
const authoredRow = queryRow.partial({ timestamp: true });

/**
 * Reads queries to judge: rows as those of `queries.jsonl` of the dataset `jsonl`, whose times may be absent.
 *
 * @throws ValidationError naming every invalid row and every repeated id, StorageError for a file that cannot be read.
 */
export function readQueryFile(path: string): AuthoredQuery[] {
  const faults = new RowFaults();
  const rows = selectUniqueRows(readRows(dirname(path), basename(path), authoredRow, faults), faults);
  faults.settle(path, 'error', 'remove the rows');
  return Array.from(rows.values(), ({ row: { id, text, kind, generator, sources, attributes } }) => ({
    id,
    text,
    stratum: kind ?? null,
    generator: generator ?? null,
    sources: sources ?? [],
    sensitive: attributes?.sensitive === true,
  }));
}
