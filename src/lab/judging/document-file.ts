import { basename, dirname } from 'node:path';
import { z } from 'zod';
import { id } from '../../data/jsonl/id-schema.ts';
import { readRows } from '../../data/jsonl/jsonl-rows.ts';
import { RowFaults } from '../../data/jsonl/row-faults.ts';

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
 * Reads the texts of documents: JSONL with `id` or `_id`, `text` and perhaps `title`, as turns of the dataset `jsonl` and a corpus of BEIR have.
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
