import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { ValidationError } from '../../core/errors/errors.ts';
import { computeHash } from '../../core/hash/hash.ts';
import type { JournalOptions } from '../../core/journal/journal.ts';
import { parse } from '../../core/validation/validation.ts';
import { createSerialRunner, getOrCompute } from '../../core/values/once.ts';
import { type Attributes, DEFAULT_IMPORTANCE, isActive } from '../../model/turns/memory-fields.ts';
import { compareBytes } from '../../model/turns/tie-rule.ts';
import { EMPTY_OUTCOME_STATISTICS, type MemoryRecord } from '../../model/turns/turn.ts';
import { type ChangeLog, type Decision, openChangeLog, type RecordChange } from '../changes/change-log.ts';
import { computeCosine } from '../curation/curation-choice.ts';
import type { Memory } from '../engine/memory.ts';
import type { PriorBundle } from '../outcomes/prior-bundle.ts';
import { chooseSentences } from './extractive-summary.ts';

/** The kinds of records that consolidation writes, with their default importance (seed 004). */
export const CONSOLIDATED_IMPORTANCE = Object.freeze({
  summary: DEFAULT_IMPORTANCE.summary,
  procedural: DEFAULT_IMPORTANCE.procedural,
});
/** A type of memory that consolidation writes. */
export type ConsolidatedType = keyof typeof CONSOLIDATED_IMPORTANCE;

const isText = (value: unknown): value is string => typeof value === 'string';

/**
 * The person that a memory is about; null: nobody in particular. Memories of different people are never consolidated
 * into one.
 */
const readUser = ({ metadata }: MemoryRecord): string | null => (isText(metadata.userId) ? metadata.userId : null);

/**
 * True if consolidation reads a record: something that happened, that may leave its place, and that was not superseded.
 */
function isEpisode({ metadata }: MemoryRecord): boolean {
  const { memoryType, sensitive } = metadata;
  const isEvent = memoryType === undefined || memoryType === 'episodic';
  return isEvent && sensitive !== true && isActive({ attributes: metadata });
}

/** The ids of the episodes of a record that consolidation wrote; null for another record. */
function readEpisodes({ id, metadata: { memoryType, episodes } }: MemoryRecord): readonly string[] | null {
  const isWritten = isText(memoryType) && id.startsWith(`${memoryType}:`) && memoryType in CONSOLIDATED_IMPORTANCE;
  return isWritten && Array.isArray(episodes) ? (episodes as readonly string[]) : null;
}

/** The mean direction of vectors; their plain mean if it has none. [D] */
function computeMeanVector(vectors: readonly Float32Array[]): Float32Array {
  const sums = new Float64Array((vectors[0] as Float32Array).length);
  for (const vector of vectors) for (const [i, value] of vector.entries()) sums[i] = (sums[i] as number) + value;
  const length = Math.sqrt(sums.reduce((sum, value) => sum + value * value, 0));
  return Float32Array.from(sums, (sum) => sum / (length || vectors.length));
}

/** The value that all episodes have; null if they differ. */
function findCommon<T>(episodes: readonly MemoryRecord[], read: (record: MemoryRecord) => T): T | null {
  const first = read(episodes[0] as MemoryRecord);
  return episodes.every((episode) => read(episode) === first) ? first : null;
}

/** A record of several episodes. Its time is that of the latest: it holds nothing that was not known then. */
function buildConsolidated(
  type: ConsolidatedType,
  /** The facts that identify a pattern: its id is a hash of them. */
  key: readonly unknown[],
  episodes: readonly MemoryRecord[],
  content: { readonly context: string; readonly embedding: Float32Array; readonly attributes?: Attributes },
): MemoryRecord {
  const user = findCommon(episodes, readUser);
  return {
    id: `${type}:${computeHash(key).slice(0, 16)}`,
    embedding: content.embedding,
    context: content.context,
    outcome: null,
    metadata: {
      ...{ memoryType: type, importance: CONSOLIDATED_IMPORTANCE[type] },
      episodes: [...new Set(episodes.map(({ id }) => id))],
      ...(user === null ? {} : { userId: user }),
      ...content.attributes,
    },
    createdAt: episodes.reduce((latest, { createdAt }) => Math.max(latest, createdAt), Number.NEGATIVE_INFINITY),
    stats: EMPTY_OUTCOME_STATISTICS,
    trajectory: null,
    conversationId: findCommon(episodes, ({ conversationId }) => conversationId) ?? 'several conversations',
    parentId: null,
    author: null,
    channel: findCommon(episodes, ({ channel }) => channel),
  };
}

/** When outcomes repeat. */
export interface ProcedureOptions {
  /** The cosine from which two triggers, and two actions, are the same. */
  readonly similarity: number;
  readonly minRepeats: number;
  /** The largest standard deviation of the outcomes. */
  readonly largestDeviation: number;
}

/** Pools outcomes as the memory does. */
type ComputePriors = (records: readonly MemoryRecord[]) => PriorBundle;

/** Something that was done, and what it answered. */
interface Attempt {
  readonly trigger: MemoryRecord;
  readonly action: MemoryRecord;
}

/** The attempts of each group, whose first one the others resemble; in the order of their times. */
function groupAttempts(attempts: readonly Attempt[], similarity: number): Attempt[][] {
  const groups: Attempt[][] = [];
  const isLike = (a: MemoryRecord, b: MemoryRecord) => computeCosine(a.embedding, b.embedding) >= similarity;
  for (const attempt of attempts) {
    const { trigger, action } = attempt;
    const group = groups.find(([first]) => {
      const leader = first as Attempt;
      const isOfOne = readUser(leader.action) === readUser(action) && readUser(leader.trigger) === readUser(trigger);
      return isOfOne && isLike(leader.trigger, trigger) && isLike(leader.action, action);
    });
    if (group === undefined) groups.push([attempt]);
    else group.push(attempt);
  }
  return groups;
}

/** The record closest to the mean, the first among equals. */
function findMedoid(records: readonly MemoryRecord[]): { readonly medoid: MemoryRecord; readonly mean: Float32Array } {
  const mean = computeMeanVector(records.map(({ embedding }) => embedding));
  const rated = records.map((record) => ({ record, cosine: computeCosine(record.embedding, mean) }));
  return { medoid: rated.reduce((best, one) => (one.cosine > best.cosine ? one : best)).record, mean };
}

/** A prior as attributes; its figures are of the actions' outcomes, with those observed later. */
function toAttributes({ count, mean, confidence, interval }: PriorBundle) {
  return {
    priorCount: count,
    priorMean: mean as number,
    priorConfidence: confidence as number,
    ...(interval === null ? {} : { priorLow: interval[0], priorHigh: interval[1] }),
  };
}

/** A trigger and an action, in the words of the attempts closest to the mean; found by what its triggers mean. */
function buildProcedure(group: readonly Attempt[], prior: PriorBundle): MemoryRecord {
  const triggers = findMedoid(group.map(({ trigger }) => trigger));
  const action = findMedoid(group.map((attempt) => attempt.action)).medoid.context;
  const episodes = group.flatMap((attempt) => [attempt.trigger, attempt.action]);
  const attributes = { trigger: triggers.medoid.context, action, ...toAttributes(prior) };
  const first = group[0] as Attempt;
  const key = ['procedural', first.trigger.id, first.action.id];
  return buildConsolidated('procedural', key, episodes, { context: action, embedding: triggers.mean, attributes });
}

/**
 * What was done again and again with nearly the same outcome. An attempt is an episode with an outcome that answers
 * another episode, its parent. Attempts whose triggers and whose actions resemble those of an earlier one belong
 * together. O(attempts x groups).
 *
 * @param episodes in the order of their times.
 */
function findProcedures(
  episodes: readonly MemoryRecord[],
  options: ProcedureOptions,
  computePriors: ComputePriors,
): MemoryRecord[] {
  const byId = new Map(episodes.map((episode) => [episode.id, episode]));
  const attempts = episodes.flatMap((action): Attempt[] => {
    const trigger = action.parentId === null ? undefined : byId.get(action.parentId);
    return trigger === undefined || action.outcome === null ? [] : [{ trigger, action }];
  });
  return groupAttempts(attempts, options.similarity).flatMap((group) => {
    if (group.length < options.minRepeats) return [];
    const actions = group.map(({ action }) => action);
    const prior = computePriors(actions);
    return Math.sqrt(prior.variance as number) > options.largestDeviation ? [] : [buildProcedure(group, prior)];
  });
}

/** The schema of what is consolidated, and how. */
const consolidationOptions = z.strictObject({
  /** Episodes of a session from which a summary is written. */
  minEpisodes: z.int().min(1).default(5),
  /** Sentences of a summary. */
  sentences: z.int().min(1).default(5),
  /** Weight of what is common to the session against what is new in a sentence. */
  lambda: z.number().min(0).max(1).default(0.7),
  /** Only sessions with an episode that was retrieved so often; 0: all. */
  minRetrievals: z.int().min(0).default(0),
  /** The cosine from which two triggers, and two actions, are the same. */
  similarity: z.number().min(-1).max(1).default(0.9),
  /** Outcomes from which a procedure is written. */
  minRepeats: z.int().min(2).default(3),
  /** The largest standard deviation of outcomes that repeat. */
  largestDeviation: z.number().min(0).default(0.25),
});
/** The options of a consolidation. */
export type ConsolidationOptions = z.input<typeof consolidationOptions>;

/** Knows how often an entry was retrieved: a `QueryPatternTracker`, or what reads a log. */
export interface RetrievalCounts {
  getRetrievals(id: string): number;
}

/** The episodes of each session of each person. */
function groupBySession(episodes: readonly MemoryRecord[]): Map<string, MemoryRecord[]> {
  const sessions = new Map<string, MemoryRecord[]>();
  for (const episode of episodes) {
    const { conversationId, channel } = episode;
    getOrCompute(sessions, JSON.stringify([conversationId, channel, readUser(episode)]), () => []).push(episode);
  }
  return sessions;
}

async function writeSummary(
  session: string,
  episodes: readonly MemoryRecord[],
  options: z.output<typeof consolidationOptions>,
): Promise<MemoryRecord[]> {
  const chosen = await chooseSentences(
    episodes.map(({ context }) => context),
    options,
  );
  if (chosen.length === 0) return [];
  const vectors = chosen.map(({ from }) => (episodes[from] as MemoryRecord).embedding);
  const context = chosen.map(({ text }) => text).join(' ');
  return [
    buildConsolidated('summary', ['summary', session], episodes, { context, embedding: computeMeanVector(vectors) }),
  ];
}

/**
 * The records that consolidation writes: a summary of each long session and a procedure where outcomes repeat. Each
 * lists its episodes, and is made of their words: no model writes. Sensitive and superseded records are left out.
 */
async function planConsolidation(
  records: Iterable<MemoryRecord>,
  options: z.output<typeof consolidationOptions>,
  { computePriors, retrievals }: { readonly computePriors: ComputePriors; readonly retrievals: RetrievalCounts | null },
): Promise<MemoryRecord[]> {
  const episodes = [...records].filter(isEpisode).sort((a, b) => a.createdAt - b.createdAt || compareBytes(a.id, b.id));
  const summaries: MemoryRecord[] = [];
  for (const [session, group] of groupBySession(episodes)) {
    const retrieved = group.reduce((most, { id }) => Math.max(most, retrievals?.getRetrievals(id) ?? 0), 0);
    if (group.length >= options.minEpisodes && retrieved >= options.minRetrievals)
      summaries.push(...(await writeSummary(session, group, options)));
  }
  return [...summaries, ...findProcedures(episodes, options, computePriors)];
}

const LOG = { name: 'consolidation log', kind: 'consolidate' } as const;

/** Where a consolidator logs, and what it knows of retrievals. */
export interface ConsolidatorSettings extends Pick<JournalOptions, 'fsync'> {
  /** How often entries were retrieved; needed where `minRetrievals` is above 0. */
  readonly retrievals?: RetrievalCounts;
}

/** A consolidation: the records that it wrote, replaced and removed. */
export interface Consolidation extends Decision {
  readonly kind: 'consolidate';
}

/** What the memory adds to a record keeps: later outcomes, and attributes such as `useCount`. */
function keepObserved(planned: MemoryRecord, before: MemoryRecord | null): MemoryRecord {
  if (before === null) return planned;
  const { priorLow: _low, priorHigh: _high, ...known } = before.metadata; // a prior of other outcomes may have no interval
  return { ...planned, stats: before.stats, metadata: { ...known, ...planned.metadata } };
}

/**
 * Writes what many episodes have in common as records of the memory: a summary of each long session, and procedures where outcomes repeat. Episodes do not
 * change. A consolidation is logged before it is done and can be undone. Open one with `openConsolidator`.
 */
export class Consolidator {
  readonly #memory: Memory;
  readonly #log: ChangeLog<Consolidation>;
  readonly #options: z.output<typeof consolidationOptions>;
  readonly #retrievals: RetrievalCounts | null;
  readonly #runAlone = createSerialRunner();

  /** @internal `openConsolidator` makes consolidators. */
  constructor(
    memory: Memory,
    log: ChangeLog<Consolidation>,
    options: z.output<typeof consolidationOptions>,
    retrievals: RetrievalCounts | null,
  ) {
    this.#memory = memory;
    this.#log = log;
    this.#options = options;
    this.#retrievals = retrievals;
  }

  /** Sentences about acknowledged changes that the opening found missing in the log or in the memory. */
  get warnings(): readonly string[] {
    return this.#log.warnings;
  }

  /** The consolidations that are not undone, in their order. */
  consolidations(): readonly Consolidation[] {
    return this.#log.decisions();
  }

  /** What {@link consolidate} would change; nothing is written. @throws as there. */
  plan(): Promise<readonly RecordChange[]> {
    return this.#runAlone(() => this.#plan());
  }

  /**
   * Writes summaries and procedures. Those of an earlier consolidation are replaced, and removed if one of their episodes is gone. What would not change is left.
   *
   * @returns the changes; without any, nothing is logged.
   * @throws ValidationError for a record of the caller that has the id of a summary or a procedure; StorageError. Nothing is changed then.
   */
  consolidate(): Promise<readonly RecordChange[]> {
    return this.#runAlone(async () => {
      const changes = await this.#plan();
      const id = `consolidation ${this.#log.decisions().length + 1}`;
      if (changes.length > 0) await this.#log.perform({ kind: 'consolidate', id, changes });
      return changes;
    });
  }

  async #plan(): Promise<RecordChange[]> {
    const records = [...this.#memory.records()];
    const computePriors: ComputePriors = (actions) => this.#memory.computePriors(actions);
    const planned = await planConsolidation(records, this.#options, { computePriors, retrievals: this.#retrievals });
    const written = planned.flatMap((record) => this.#compare(record));
    const ids = new Set(planned.map(({ id }) => id));
    const orphans = records.filter((record) => !ids.has(record.id) && this.#isOrphan(record));
    return [...written, ...orphans.map((before) => ({ id: before.id, before, after: null, withheld: false }))];
  }

  #compare(planned: MemoryRecord): RecordChange[] {
    const before = this.#memory.get(planned.id);
    if (before !== null && readEpisodes(before) === null)
      throw new ValidationError(`record ${before.id} is no consolidation; give it another id`, { id: before.id });
    const after = keepObserved(planned, before);
    return isDeepStrictEqual({ ...before }, after) ? [] : [{ id: after.id, before, after, withheld: false }];
  }

  #isOrphan(record: MemoryRecord): boolean {
    return readEpisodes(record)?.some((id) => this.#memory.get(id) === null) ?? false;
  }

  /**
   * Undoes consolidations, the last one first: their records are removed, or as they were.
   *
   * @returns how many were undone.
   * @throws ValidationError naming a record that was changed since: that consolidation and the earlier ones stay.
   */
  undo(count: number | 'all' = 1): Promise<number> {
    return this.#runAlone(() => this.#log.undo(count));
  }

  /** Ends writing and releases the folder of the log; the memory stays open. @throws StorageError. */
  close(): Promise<void> {
    return this.#runAlone(() => this.#log.close());
  }
}

/**
 * Opens a consolidator over a memory, with the log of its changes in a folder.
 *
 * @throws ConfigurationError; ValidationError for `minRetrievals` without known retrievals, and for the folder of another log; WalCorruptedError,
 * UnavailableError, StorageError.
 */
export async function openConsolidator(
  memory: Memory,
  folder: string,
  options: ConsolidationOptions = {},
  { retrievals, ...journalOptions }: ConsolidatorSettings = {},
): Promise<Consolidator> {
  const checked = parse(consolidationOptions, options, 'the options of a consolidation');
  if (checked.minRetrievals > 0 && retrievals === undefined)
    throw new ValidationError(
      `minRetrievals is ${checked.minRetrievals} and no retrievals are known; log retrievals first, or pass 0`,
      { minRetrievals: checked.minRetrievals },
    );
  const log = await openChangeLog<Consolidation>(memory, folder, LOG, journalOptions);
  return new Consolidator(memory, log, checked, retrievals ?? null);
}
