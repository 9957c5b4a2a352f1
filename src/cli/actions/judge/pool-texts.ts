import { join } from 'node:path';
import { ConfigurationError, ValidationError } from '../../../core/errors/errors.ts';
import { createTerminalProgress } from '../../../core/terminal/progress.ts';
import { parse } from '../../../core/validation/validation.ts';
import { type DatasetInput, datasetOptions, loadDataset } from '../../../data/registry.ts';
import { applyOverrides } from '../../../lab/composition/config-file.ts';
import {
  type AuthoredQuery,
  type DocumentText,
  readDocumentTexts,
  readQueryFile,
} from '../../../lab/judging/query-file.ts';
import { isStoredRun, openRun } from '../../../lab/stored/stored-run.ts';
import { parseNamedFile } from '../../../lab/stored/system-files.ts';
import type { Dataset } from '../../../model/dataset.ts';

/** Where the texts that a judge reads come from. */
export interface TextFlags {
  readonly queries?: string;
  readonly documents?: string;
  readonly data?: string;
  readonly set: readonly string[];
  readonly cache: string;
}

/** What a judge reads, by id. */
export interface JudgingTexts {
  readonly queries: ReadonlyMap<string, AuthoredQuery>;
  readonly documents: ReadonlyMap<string, DocumentText>;
}

async function load(written: unknown, source: string, cache: string): Promise<Dataset> {
  const options: DatasetInput = parse(datasetOptions, written, source);
  return loadDataset(options, { cacheFolder: join(cache, 'datasets'), progress: createTerminalProgress() });
}

/** The dataset of a stored run, as its config states it. @throws ValidationError if the data is not that of the run. */
async function loadDatasetOfRun(folder: string, set: readonly string[], cache: string): Promise<Dataset> {
  const { config, summary } = openRun(folder);
  const { dataset: written } = applyOverrides({ dataset: config.dataset }, set);
  const dataset = await load(written, `the dataset of ${folder}`, cache);
  if (dataset.hash === summary.dataset.hash) return dataset;
  throw new ValidationError(
    `dataset ${dataset.name} is not that of the run ${folder}: its hash is ${dataset.hash}, not ${summary.dataset.hash}; name the data of the run with --set, or run it again`,
    { folder, hash: dataset.hash },
  );
}

/** The dataset of `--data`, else that of the first stored run; null if neither is there. */
async function findDataset(runs: readonly string[], { data, set, cache }: TextFlags): Promise<Dataset | null> {
  if (data !== undefined) {
    const { dataset: written } = applyOverrides({ dataset: { name: data } }, set);
    return load(written, 'the dataset', cache);
  }
  const stored = runs.map((typed) => parseNamedFile(typed).path).find(isStoredRun);
  return stored === undefined ? null : loadDatasetOfRun(stored, set, cache);
}

function describeQueries({ queries }: Dataset): AuthoredQuery[] {
  return queries.map(({ id, text, kind, attributes }) => ({
    id,
    text,
    stratum: kind ?? null,
    generator: null,
    sources: [],
    sensitive: attributes?.sensitive === true,
  }));
}

function describeTurns({ corpus }: Dataset): ReadonlyMap<string, DocumentText> {
  return new Map(
    corpus.turns.map(({ id, text, attributes }) => [id, { text, sensitive: attributes?.sensitive === true }]),
  );
}

function createMissingError(flag: string, meaning: string): ConfigurationError {
  const expected = `${meaning}: a JSONL file, --data with a dataset, or the folder of a stored run`;
  return new ConfigurationError('the command line', [{ path: flag, expected, got: 'nothing' }]);
}

/**
 * The texts of queries and documents: files where they are named, else those of the dataset.
 *
 * @throws ConfigurationError if a text has no source.
 */
export async function readJudgingTexts(runs: readonly string[], flags: TextFlags): Promise<JudgingTexts> {
  const { queries, documents } = flags;
  const dataset = queries !== undefined && documents !== undefined ? null : await findDataset(runs, flags);
  if (queries === undefined && dataset === null) throw createMissingError('--queries', 'the texts of the queries');
  if (documents === undefined && dataset === null)
    throw createMissingError('--documents', 'the texts of the documents');
  const asked = queries === undefined ? describeQueries(dataset as Dataset) : readQueryFile(queries);
  return {
    queries: new Map(asked.map((query) => [query.id, query])),
    documents: documents === undefined ? describeTurns(dataset as Dataset) : readDocumentTexts(documents),
  };
}
