import { basename, dirname } from 'node:path';
import { z } from 'zod';
import { id, queryRow, RowFaults, readRows, selectUniqueRows } from '../../data/jsonl/jsonl-rows.ts';

/**
 * The strata of a set of judged queries: `exact` repeats words of its source, `paraphrase` shares none, `multi-hop`
 * needs at least two documents.
 */
export const QUERY_STRATA = Object.freeze(['exact', 'paraphrase', 'multi-hop'] as const);

/** The least number of queries at which a stratum ranks systems reliably. Source: voorhees2002topic. */
export const LEAST_QUERIES_PER_STRATUM = 50;

/** A stratum and its queries. */
export interface StratumSize {
  readonly stratum: string;
  readonly queries: number;
}

/**
 * The strata with fewer than {@link LEAST_QUERIES_PER_STRATUM} queries, by name.
 *
 * @param strata the stratum of each query; null if it has none.
 */
export function findSmallStrata(strata: Iterable<string | null>): StratumSize[] {
  const counts = new Map<string, number>();
  for (const stratum of strata) if (stratum !== null) counts.set(stratum, (counts.get(stratum) ?? 0) + 1);
  return Array.from(counts, ([stratum, queries]) => ({ stratum, queries }))
    .filter(({ queries }) => queries < LEAST_QUERIES_PER_STRATUM)
    .sort((a, b) => (a.stratum < b.stratum ? -1 : 1));
}

/** `stratum multi-hop has 39 queries, fewer than 50; add 11 queries, or report it as too small to rank systems` */
export function describeSmallStratum({ stratum, queries }: StratumSize): string {
  const least = LEAST_QUERIES_PER_STRATUM;
  return `stratum ${stratum} has ${queries} queries, fewer than ${least}; add ${least - queries} queries, or report it as too small to rank systems`;
}

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
