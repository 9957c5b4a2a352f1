import { basename, dirname } from 'node:path';
import { ValidationError } from '../../core/errors/errors.ts';
import type { Corpus } from '../../model/turns/corpus.ts';
import { compareBytes } from '../../model/turns/tie-rule.ts';
import { type QueryRow, queryRow, readRows, selectUniqueRows } from './jsonl-rows.ts';
import { type SplitQueries, splitQueries } from './jsonl-split.ts';
import { RowFaults } from './row-faults.ts';

/** A query as a person writes it. */
const ownQueryRow = queryRow
  .pick({ text: true, kind: true })
  .extend({ id: queryRow.shape.id.optional(), timestamp: queryRow.shape.timestamp.optional() });

/**
 * The queries of a JSON Lines file, in time order. Without a time a query is asked a millisecond after the last turn, without an id it is named by its line.
 *
 * @throws ValidationError that names every invalid row, and for no query; StorageError if the file cannot be read.
 */
export function readOwnQueries(path: string, corpus: Corpus): SplitQueries {
  const faults = new RowFaults();
  const located = readRows(dirname(path), basename(path), ownQueryRow, faults);
  const end = (corpus.turns.at(-1)?.timestamp ?? 0) + 1;
  const named = located.map(({ where, row }) => ({
    where,
    row: {
      ...row,
      id: row.id ?? `own-${where.slice(where.lastIndexOf(':') + 1)}`,
      timestamp: row.timestamp ?? end,
      anchorTurnId: null,
      author: null,
      channel: null,
    } satisfies QueryRow,
  }));
  const rows = [...selectUniqueRows(named, faults).values()].map(({ row }) => row);
  faults.settle(path, 'error', 'remove the rows');
  if (rows.length === 0) throw new ValidationError(`no query in: ${path}; add a line such as {"text": "red lentils"}`);
  rows.sort((a, b) => a.timestamp - b.timestamp || compareBytes(a.id, b.id));
  return splitQueries(corpus, rows);
}
