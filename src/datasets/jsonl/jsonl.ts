import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { StorageError } from '../../core/errors.ts';
import type { Dataset } from '../../model/dataset.ts';
import { queryRow, readQrels, readRows, turnRow } from './jsonl-rows.ts';
import { buildRowDataset } from './row-dataset.ts';
import { type OnDirtyRow, RowFaults } from './row-faults.ts';

/** A folder of turns, queries and judgements, what to do with a row that breaks the rules, and the least relevant grade. */
export interface JsonlOptions {
  /** The folder with turns.jsonl, queries.jsonl and qrels.txt. */
  readonly path: string;
  /** The treatment of invalid rows: one error that names them all, or a count of them in the facts. */
  readonly onDirtyRow: OnDirtyRow;
  /** The least grade that counts as relevant. */
  readonly relevantGrade: number;
}

const FILES = ['turns.jsonl', 'queries.jsonl', 'qrels.txt'] as const;

/**
 * Your own conversations, questions and judgements. The format is in docs/datasets/jsonl.md.
 *
 * @throws ValidationError for invalid rows unless they are skipped, and if no turn or no query is left; StorageError if a file cannot be read.
 */
export async function loadJsonl(options: JsonlOptions): Promise<Dataset> {
  const { path, onDirtyRow, relevantGrade } = options;
  const missing = FILES.filter((file) => !existsSync(join(path, file)));
  if (missing.length > 0)
    throw new StorageError('read', path, {
      cause: new Error(`no ${missing.join(', ')}`),
      remedy: `name a folder with ${FILES.join(', ')}; see docs/datasets/jsonl.md`,
    });
  const faults = new RowFaults();
  const rows = {
    turns: readRows(path, 'turns.jsonl', turnRow, faults),
    queries: readRows(path, 'queries.jsonl', queryRow, faults),
    judgements: readQrels(path, 'qrels.txt', faults),
  };
  const settle = () => faults.settle(path, onDirtyRow);
  const licence = 'that of the data in the folder';
  const place = (list: string) => `${list}.jsonl of: ${path}`;
  return buildRowDataset(rows, faults, { name: 'jsonl', licence, judgedBy: 'qrels.txt', relevantGrade, settle, place });
}
