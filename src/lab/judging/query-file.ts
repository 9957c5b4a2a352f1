import { basename, dirname } from 'node:path';
import { z } from 'zod';
import { id, queryRow, RowFaults, readRows, selectUniqueRows } from '../../data/jsonl/jsonl-rows.ts';

/**
 * The strata of a set of judged queries: `exact` repeats words of its source, `paraphrase` shares none, `multi-hop`
 * needs at least two documents.
 */
export const QUERY_STRATA = Object.freeze(['exact', 'paraphrase', 'multi-hop'] as const);

/** The text of a document that a judge reads. */
export interface DocumentText {
  readonly text: string;
  /** True if the text must stay on this machine. */
  readonly sensitive: boolean;
}

/** Turns of the dataset `jsonl`, or documents of BEIR; other keys of other programs are ignored. */
const documentRow = z.looseObject({
  id: id.optional(),
  _id: id.optional(),
  text: z.string(),
  title: z.string().optional(),
  attributes: z.looseObject({ sensitive: z.boolean().optional() }).optional(),
});

/**
 * Reads the texts of documents: JSONL with `id` or `_id`, `text` and perhaps `title`, as turns of the dataset `jsonl`
 * and a corpus of BEIR have.
 *
 * @throws ValidationError naming every invalid row and every repeated id, StorageError for a file that cannot be read.
 */
export function readDocumentTexts(path: string): ReadonlyMap<string, DocumentText> {
  const faults = new RowFaults();
  const documents = new Map<string, DocumentText>();
  for (const { where, row } of readRows(dirname(path), basename(path), documentRow, faults)) {
    const name = row.id ?? row._id;
    if (name === undefined) faults.add(where, 'malformed row', 'expected id or _id, got neither');
    else if (documents.has(name)) faults.add(where, 'duplicate id', name);
    else {
      const text = row.title === undefined || row.title === '' ? row.text : `${row.title}\n${row.text}`;
      documents.set(name, { text, sensitive: row.attributes?.sensitive === true });
    }
  }
  faults.settle(path, 'error', 'remove the rows');
  return documents;
}

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
