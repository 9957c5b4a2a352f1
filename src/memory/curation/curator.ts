import { z } from 'zod';
import { DuplicateRecordError } from '../../core/errors/errors.ts';
import type { JournalOptions } from '../../core/journal/journal.ts';
import { parse } from '../../core/validation/validation.ts';
import { createSerialRunner } from '../../core/values/once.ts';
import { type CurationOperation, curationRuleOptions } from '../../model/text/curation-rules.ts';
import { isActive, parseRow } from '../../model/turns/memory-fields.ts';
import { type MemoryRecord, type MemoryRecordInput, memoryRecordSchema } from '../../model/turns/turn.ts';
import { type ChangeLog, type Decision, openChangeLog } from '../changes/change-log.ts';
import type { Memory } from '../engine/memory.ts';
import {
  type CurationDecider,
  computeCosine,
  createRuleDecider,
  listChanges,
  type Neighbour,
} from './curation-choice.ts';

/** A decision, with what is needed to explain it and to undo it. */
export interface CurationEntry extends Decision {
  readonly kind: 'curate';
  /** The id of the record that came in. */
  readonly id: string;
  readonly operation: CurationOperation;
  /** The name of the rule, or what an endpoint gave as its reason. */
  readonly reason: string;
  /** The id of the record that it concerns; null for an addition. */
  readonly target: string | null;
  /** The records that the new one was compared with, nearest first, with the cosines of their vectors. */
  readonly neighbours: readonly { readonly id: string; readonly cosine: number }[];
}

const LOG = { name: 'curation log', kind: 'curate' } as const;

/** How records are curated. */
export const curationOptions = z.strictObject({
  /** Records that a new one is compared with. */
  neighbours: z.int().min(1).default(10),
  /** The index that finds them; null: the first of the memory. */
  indexName: z.string().min(1).nullable().default(null),
  /** The importance of a record that was contradicted. */
  tombstoneImportance: z.number().min(0).max(1).default(0.3),
  rules: curationRuleOptions,
});
/** How records are curated: the neighbours to compare, the importance of a tombstone, and the rules. */
export type CurationOptions = z.input<typeof curationOptions>;

/** Where a curator logs, and what decides in the place of rules. */
export interface CuratorSettings extends Pick<JournalOptions, 'fsync'> {
  /** Default: rules. */
  readonly decide?: CurationDecider;
}

const isSensitive = ({ metadata }: MemoryRecord) => metadata.sensitive === true;

/**
 * Curates the records that come into a memory: each is compared with its nearest neighbours, then added, merged into one of them, dropped, or added in the
 * place of one that it contradicts. Every decision is in a log before it is done, with its reason, and can be undone. Open one with `openCurator`.
 *
 * A sensitive record is added as it is: nothing decides about it, it is no neighbour of another, and the log holds its id alone.
 */
export class Curator {
  readonly #memory: Memory;
  readonly #log: ChangeLog<CurationEntry>;
  readonly #options: z.output<typeof curationOptions>;
  readonly #decide: CurationDecider;
  readonly #runAlone = createSerialRunner();

  /** @internal `openCurator` makes curators. */
  constructor(
    memory: Memory,
    log: ChangeLog<CurationEntry>,
    options: z.output<typeof curationOptions>,
    decide: CurationDecider,
  ) {
    this.#memory = memory;
    this.#log = log;
    this.#options = options;
    this.#decide = decide;
  }

  /** Sentences about acknowledged changes that the opening found missing in the log or in the memory. */
  get warnings(): readonly string[] {
    return this.#log.warnings;
  }

  /** The decisions that are not undone, in their order. */
  entries(): readonly CurationEntry[] {
    return this.#log.decisions();
  }

  /**
   * Decides about a record, logs the decision and does it.
   *
   * @throws DuplicateRecordError for an id that is there, what the search, the decider and `Memory.upsert` throw; nothing is changed then.
   */
  curate(input: MemoryRecordInput): Promise<CurationEntry> {
    return this.#runAlone(async () => {
      const record = parseRow(memoryRecordSchema, input, 'the record');
      const own = this.#memory.place({ ...record, embedding: record.embedding.slice() });
      if (this.#memory.get(own.id) !== null) throw new DuplicateRecordError('memory', own.id);
      const entry = isSensitive(own) ? this.#passSensitive(own) : await this.#choose(own);
      await this.#log.perform(entry, isSensitive(own) ? () => this.#memory.add(own) : undefined);
      return entry;
    });
  }

  #passSensitive({ id }: MemoryRecord): CurationEntry {
    const changes = [{ id, before: null, after: null, withheld: true }];
    return { kind: 'curate', id, operation: 'add', reason: 'sensitive', target: null, neighbours: [], changes };
  }

  async #choose(record: MemoryRecord): Promise<CurationEntry> {
    const neighbours = await this.#findNeighbours(record);
    const choice = await this.#decide(record, neighbours);
    const changes = listChanges(record, choice, this.#options.tombstoneImportance);
    return {
      kind: 'curate',
      id: record.id,
      operation: choice.operation,
      reason: choice.reason,
      target: choice.target?.id ?? null,
      neighbours: neighbours.map(({ record: { id }, cosine }) => ({ id, cosine })),
      changes,
    };
  }

  /** The nearest records but for sensitive and superseded ones, which are left out after the search: a filter would be compiled again after every write. */
  async #findNeighbours({ embedding }: MemoryRecord): Promise<Neighbour[]> {
    const { neighbours, indexName } = this.#options;
    const name = indexName ?? (this.#memory.indexNames[0] as string);
    for (let k = neighbours; ; k *= 2) {
      const found = await this.#memory.search(name, embedding, k);
      const kept = found.flatMap(({ id }) => this.#compare(id, embedding));
      if (kept.length >= neighbours || found.length < k) return kept.slice(0, neighbours);
    }
  }

  /** A record beside the one that comes in; none for what is not compared. */
  #compare(id: string, embedding: Float32Array): Neighbour[] {
    const record = this.#memory.get(id);
    if (record === null || isSensitive(record) || !isActive({ attributes: record.metadata })) return [];
    return [{ record, cosine: computeCosine(embedding, record.embedding) }];
  }

  /**
   * Undoes decisions, the last one first.
   *
   * @param count 'all': every decision of the log.
   * @returns how many were undone.
   * @throws ValidationError naming a record that was changed since: that decision and the earlier ones stay.
   */
  undo(count: number | 'all' = 1): Promise<number> {
    return this.#runAlone(() => this.#log.undo(count));
  }

  /** Ends writing and releases the folder of the log; the memory stays open. @throws StorageError. */
  async close(): Promise<void> {
    await this.#runAlone(() => this.#log.close());
  }
}

/**
 * Opens a curator over a memory, with the log of its decisions in a folder. Nothing is curated unless records come in by {@link Curator.curate}.
 *
 * @throws ConfigurationError, WalCorruptedError, UnavailableError, ValidationError for the folder of another log, StorageError.
 */
export async function openCurator(
  memory: Memory,
  folder: string,
  options: CurationOptions = {},
  { decide, ...journalOptions }: CuratorSettings = {},
): Promise<Curator> {
  const checked = parse(curationOptions, options, 'the options of a curation');
  const log = await openChangeLog<CurationEntry>(memory, folder, LOG, journalOptions);
  return new Curator(memory, log, checked, decide ?? createRuleDecider(checked.rules));
}
