import { isDeepStrictEqual } from 'node:util';
import type { z } from 'zod';
import { ValidationError } from '../../core/errors/errors.ts';
import type { JournalOptions } from '../../core/journal/journal.ts';
import { parse } from '../../core/validation/validation.ts';
import { createSerialRunner } from '../../core/values/once.ts';
import type { MemoryRecord } from '../../model/turns/memory-record.ts';
import { type ChangeLog, type Decision, openChangeLog, type RecordChange } from '../changes/change-log.ts';
import type { Memory } from '../engine/memory.ts';
import { readEpisodes } from './consolidated-record.ts';
import type { ComputePriors } from './find-procedures.ts';
import {
  type ConsolidationOptions,
  consolidationOptions,
  planConsolidation,
  type RetrievalCounts,
} from './plan-consolidation.ts';

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
