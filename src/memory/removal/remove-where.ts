import { resolve } from 'node:path';
import {
  type CachedTexts,
  type CachedValues,
  countCachedTexts,
  evictCachedTexts,
  listTextKeys,
} from '../../index/encoders/cached-texts.ts';
import { bindFilter } from '../../model/filter/compile-filter.ts';
import type { Filter } from '../../model/filter/filter.ts';
import type { Qrels } from '../../model/run.ts';
import { type MemoryRecord, toTurn } from '../../model/turns/turn.ts';
import { validateConservation } from '../../ops/conservation/conservation-laws.ts';
import type { ConservationMetrics } from '../../ops/conservation/conservation-metrics.ts';
import { findBrokenLaw } from '../conservation/conservation-guard.ts';
import type { ConservationOptions } from '../conservation/conservation-options.ts';
import { measureRecords } from '../conservation/salience-stream.ts';
import type { MemoryStore } from '../store/memory-store.ts';
import { finishRemoval, resumeRemoval, stageRemoval } from '../store/removal.ts';
import { FolderLogs, type ForgottenEntries } from './folder-logs.ts';
import { planRemoval, type RemovalPlan, type RemovalSelection, toFilter } from './selection.ts';

/** The options of a removal. */
export interface RemovalOptions {
  /** True: nothing is changed, and the report says what would be. Default false. */
  readonly dryRun?: boolean;
  /** A cache of encoders, such as `.ragpp/cache`, which loses the vectors of the removed texts. Default: no cache. */
  readonly cacheFolder?: string;
  /** Judged queries: for each its records by grade. A record is relevant if its grade is above 0. */
  readonly judgements?: Qrels;
}

/** The part of a memory around its store. */
export interface RemovalSite {
  /** Reads a filter by attributes that records have. @throws InvalidFilterError. */
  readFilter(input: unknown): Filter;
  /** Brings open indexes up to the store, and frees what they have of removed records. */
  compactIndexes(): Promise<void>;
  readonly conservation: ConservationOptions;
}

/** The conservation metrics of a memory, each record weighted by its salience. */
export interface RemovalConservation {
  /** null: no record has a salience above 0. */
  readonly before: ConservationMetrics | null;
  readonly after: ConservationMetrics | null;
  /** Sentences about a law that the removal breaks, and about a fall of information. The removal is done all the same. */
  readonly warnings: readonly string[];
}

/** Judgements of queries that a removal makes useless. */
export interface LostEvidence {
  /** Relevant records of queries that the memory had, each once a query. */
  readonly relevant: number;
  /** Relevant records that are removed. */
  readonly removed: number;
  /** Queries with a relevant record in the memory before. */
  readonly queries: number;
  /** Queries that lost some and kept others. */
  readonly reducedQueries: readonly string[];
  /** Queries that lost every relevant record. */
  readonly lostQueries: readonly string[];
}

/** The records and entries that a removal takes, and their effect on the memory. */
export interface RemovalReport {
  /** The ids of the records that the selection names. */
  readonly removed: readonly string[];
  /** Records that were made of these and go with them: summaries, procedures and facts. */
  readonly derived: readonly { readonly id: string; readonly memoryType: string }[];
  /** The number of records that stay. */
  readonly kept: number;
  /** Outcomes that were observed of the records that go. */
  readonly outcomes: number;
  /** The logs in the folder of the memory. */
  readonly logs: readonly ForgottenEntries[];
  /** The vectors in the cache that go; null: no cache was passed. */
  readonly cached: CachedValues | null;
  readonly conservation: RemovalConservation;
  /** null: no judgements were passed. */
  readonly evidence: LostEvidence | null;
  /**
   * Sentences about acknowledged entries that are missing at the end of a log, and about files of the cache that cannot
   * be read.
   */
  readonly warnings: readonly string[];
}

function compareConservation(
  store: MemoryStore,
  ids: ReadonlySet<string>,
  options: ConservationOptions,
): RemovalConservation {
  const measure = (keeps: (id: string) => boolean) => {
    const list = function* () {
      for (const record of store.records()) if (keeps(record.id)) yield record;
    };
    return measureRecords(list, store.dimension ?? 0, options.halfLifeHours);
  };
  const before = measure(() => true);
  const after = measure((id) => !ids.has(id));
  const broken = findBrokenLaw(before, after, options);
  if (broken !== null) return { before, after, warnings: [broken.message] };
  const isMeasured = before !== null && after !== null;
  return { before, after, warnings: isMeasured ? validateConservation(before, after, options).warnings : [] };
}

function countLostEvidence(judgements: Qrels, store: MemoryStore, ids: ReadonlySet<string>): LostEvidence {
  const counts = { relevant: 0, removed: 0, queries: 0 };
  const [reducedQueries, lostQueries]: [string[], string[]] = [[], []];
  for (const [query, grades] of judgements) {
    const relevant = [...grades].filter(([id, grade]) => grade > 0 && store.has(id));
    const gone = relevant.filter(([id]) => ids.has(id)).length;
    counts.relevant += relevant.length;
    counts.removed += gone;
    counts.queries += Number(relevant.length > 0);
    if (gone > 0) (gone === relevant.length ? lostQueries : reducedQueries).push(query);
  }
  return { ...counts, reducedQueries, lostQueries };
}

/** The keys of the texts that go, also of earlier versions and of records that only logs have. */
function listCachedTexts(
  folder: string,
  store: MemoryStore,
  { ids, versions, selects }: RemovalPlan,
  logged: readonly MemoryRecord[],
): CachedTexts {
  const known = [...ids].map((id) => store.get(id)).filter((record) => record !== null);
  const gone = new Set(versions.map(([id, from]) => `${from} ${id}`));
  const past = store.pastVersions
    .filter(({ record: { id }, from }) => ids.has(id) || gone.has(`${from} ${id}`))
    .map(({ record }) => record);
  const inLogs = logged.filter((record) => ids.has(record.id) || selects(record));
  const hashes = [...known, ...past, ...inLogs].flatMap((record) => listTextKeys(toTurn(record)));
  return { folder: resolve(folder), hashes: [...new Set(hashes)] };
}

function reportRemoval(
  store: MemoryStore,
  { selected, derived, ids, selects, cached = null }: RemovalPlan,
  logs: FolderLogs,
  judgements: Qrels | undefined,
  conservation: ConservationOptions,
): RemovalReport {
  const going = [...selected, ...derived.keys()];
  const inCache = cached && countCachedTexts(cached);
  const unread = (inCache?.unread ?? []).map(
    (path) => `file of the cache cannot be read, and may have vectors of removed texts: ${path}; delete the file`,
  );
  const observed = ({ outcome, stats }: MemoryRecord) => stats.count + Number(outcome !== null);
  return {
    removed: selected,
    derived: Array.from(derived, ([id, memoryType]) => ({ id, memoryType })),
    kept: store.size - going.length,
    outcomes: going.reduce((sum, id) => sum + observed(store.get(id) as MemoryRecord), 0),
    logs: logs.countForgotten({ ids, selects }),
    cached: inCache,
    conservation: compareConservation(store, ids, conservation),
    evidence: judgements === undefined ? null : countLostEvidence(judgements, store, ids),
    warnings: [...logs.warnings, ...unread],
  };
}

/**
 * Removes the records of a filter, and what was made of them, from a store, the logs in its folder and its saved
 * indexes, and their vectors from a cache. When the promise resolves, no file of the folder has them. If the process is
 * killed before, nothing is removed, or the next opening of the store finishes the removal.
 *
 * @throws ConfigurationError for a selection of another form; InvalidFilterError; ValidationError for a store that is
 *   only read, and for a journal in the folder that is no log of a memory; UnavailableError for a log that is open;
 *   StorageError; what `compactIndexes` throws.
 */
export async function removeWhere(
  store: MemoryStore,
  selection: RemovalSelection,
  { dryRun = false, cacheFolder, judgements }: RemovalOptions,
  { readFilter, compactIndexes, conservation }: RemovalSite,
): Promise<RemovalReport> {
  const { folder } = store;
  const filter = readFilter(toFilter(selection));
  if (!dryRun) store.assertWritable();
  if (!dryRun) await resumeRemoval(store, compactIndexes);
  const logs = await FolderLogs.open(folder, dryRun);
  try {
    const found = planRemoval(() => store.records(), logs.records, bindFilter(filter), store.pastVersions);
    const cached = cacheFolder === undefined ? null : listCachedTexts(cacheFolder, store, found, logs.records);
    const plan = { ...found, cached };
    const report = reportRemoval(store, plan, logs, judgements, conservation);
    if (dryRun) return report;
    if (folder === null) {
      await store.forget([...plan.ids], plan.versions);
      await compactIndexes();
      if (cached !== null) evictCachedTexts(cached);
    } else {
      await stageRemoval(folder, plan, logs.paths, (i, into) => logs.writeWithout(plan, i, into));
      await finishRemoval(store, compactIndexes);
    }
    return report;
  } finally {
    await logs.close();
  }
}
