import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { StorageError } from '../../core/errors/errors.ts';
import { finishStepsWithBreaks, ignoreProgress, type StartProgress, type Steps } from '../../core/terminal/progress.ts';
import type { Dataset } from '../../model/dataset.ts';
import type { DatasetContext } from '../prepared/datasets.ts';
import { queryRow, readQrelsInSteps, readRowsInSteps, turnRow } from './jsonl-rows.ts';
import { buildRowDatasetInSteps, countRowDatasetSteps } from './row-dataset.ts';
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
export async function loadJsonl(
  options: JsonlOptions,
  { progress = ignoreProgress }: Partial<DatasetContext> = {},
): Promise<Dataset> {
  const { path, onDirtyRow, relevantGrade } = options;
  const missing = FILES.filter((file) => !existsSync(join(path, file)));
  if (missing.length > 0)
    throw new StorageError('read', path, {
      cause: new Error(`no ${missing.join(', ')}`),
      remedy: `name a folder with ${FILES.join(', ')}; see docs/datasets/jsonl.md`,
    });
  const faults = new RowFaults();
  const [turnFile, queryFile, judgementFile] = FILES;
  const rows = {
    turns: await readInSteps(path, turnFile, progress, (on) => readRowsInSteps(path, turnFile, turnRow, faults, on)),
    queries: await readInSteps(path, queryFile, progress, (on) =>
      readRowsInSteps(path, queryFile, queryRow, faults, on),
    ),
    judgements: await readInSteps(path, judgementFile, progress, (on) =>
      readQrelsInSteps(path, judgementFile, faults, on),
    ),
  };
  const settle = () => faults.settle(path, onDirtyRow);
  const licence = 'that of the data in the folder';
  const describeList = (list: string) => `${list}.jsonl of: ${path}`;
  const source = { name: 'jsonl', licence, judgedBy: 'qrels.txt', relevantGrade, settle, describeList };
  const stage = progress('check the rows', countRowDatasetSteps(rows));
  const dataset = await finishStepsWithBreaks(buildRowDatasetInSteps(rows, faults, source), stage.update);
  stage.finish(`${dataset.corpus.size} turns`);
  return dataset;
}

/** Reads a file in steps and reports its bytes. */
async function readInSteps<T>(
  folder: string,
  file: string,
  progress: StartProgress,
  read: (onRead: (bytes: number) => void) => Steps<readonly T[]>,
): Promise<readonly T[]> {
  const stage = progress(`bytes of ${file}`, statSync(join(folder, file)).size);
  const rows = await finishStepsWithBreaks(read(stage.update), () => {});
  stage.finish(`${rows.length} rows`);
  return rows;
}
