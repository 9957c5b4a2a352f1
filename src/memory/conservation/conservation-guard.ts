import { ConservationViolationError } from '../../core/errors/errors.ts';
import { createSerialRunner } from '../../core/values/once.ts';
import { type ConservationLaws, validateConservation } from '../../ops/conservation/conservation-laws.ts';
import type { ConservationMetrics } from '../../ops/conservation/conservation-metrics.ts';
import type { ConservationOptions } from './conservation-options.ts';
import { computeSalience } from './salience.ts';
import {
  findOrigin,
  measureRecords,
  type RecordChanges,
  SalienceStream,
  type StoredRecords,
} from './salience-stream.ts';

/** The laws that a change can break. */
export type ConservationLaw = 'magnitude' | 'energy';

/** A change that breaks a law of conservation. */
export interface ConservationViolation {
  /** The number of the change; null: it was refused, and nothing was changed. */
  readonly sequence: number | null;
  /** The ids of the records that it adds, replaces or removes. */
  readonly ids: readonly string[];
  readonly law: ConservationLaw;
  readonly before: ConservationMetrics;
  readonly after: ConservationMetrics;
  /** `|M' - M| / M` */
  readonly magnitudeDrift: number;
  /** The law and the figures as a sentence. */
  readonly message: string;
}

/** Counts since the memory was opened. */
export interface ConservationCounts {
  /** Changes that were held to the laws, refused ones too. */
  readonly checked: number;
  /** Changes that broke a law. */
  readonly violations: number;
  readonly refused: number;
}

/** The conservation metrics of a memory, and what its changes did to them. */
export interface MemoryConservation {
  readonly counts: ConservationCounts;
  /**
   * The metrics of the records, weighted by their salience; null if no record has one above 0. O(n D), and O(1) after a
   * write whose mode is not `off`.
   */
  measure(): ConservationMetrics | null;
  /** The salience of a record, whose age counts from the newest record with salience; null for an unknown id. */
  getSalience(id: string): number | null;
  /**
   * Calls a function with every later change that breaks a law, at the moment at which readers see the change, or at
   * which it is refused.
   *
   * @returns ends the calls.
   */
  watch(notify: (violation: ConservationViolation) => void): () => void;
}

/** A store whose changes are guarded. */
export interface GuardedStore extends StoredRecords {
  readonly sequence: number;
  watch(notify: (ids: readonly string[]) => void): () => void;
}

/** Metrics; null where no record has salience. */
type Metrics = ConservationMetrics | null;

/** Finds the law that a change breaks; null if it breaks none, or if no record has salience before or after. */
export function findBrokenLaw(
  before: Metrics,
  after: Metrics,
  laws: ConservationLaws,
): ConservationViolationError | null {
  if (before === null || after === null) return null;
  try {
    validateConservation(before, after, laws);
    return null;
  } catch (error) {
    if (error instanceof ConservationViolationError) return error;
    throw error;
  }
}

/** Checks a change before it is written. @throws ConservationViolationError for a change that is refused. */
export type AdmitChanges = (changes: RecordChanges) => void;

/**
 * Holds the changes of a store to the laws of conservation. The first guarded write reads every record; then each
 * changed record costs O(D), and a copy of each vector is held. In the mode `warn` a change is checked when it is made.
 * In the mode `refuse` a change is checked before it is written, and writes wait for each other.
 */
export class ConservationGuard implements MemoryConservation {
  readonly #store: GuardedStore;
  readonly #dimension: number;
  readonly #options: ConservationOptions;
  readonly #listeners = new Set<(violation: ConservationViolation) => void>();
  readonly #inTurn = createSerialRunner();
  #stream: SalienceStream | null = null;
  #metrics: Metrics = null;
  #newest: { readonly sequence: number; readonly time: number } | null = null;
  /** True while a write is made that was checked as a whole. */
  #isAdmitted = false;
  #counts: ConservationCounts = { checked: 0, violations: 0, refused: 0 };

  /** @param dimension D */
  constructor(store: GuardedStore, dimension: number, options: ConservationOptions) {
    this.#store = store;
    this.#dimension = dimension;
    this.#options = options;
  }

  get counts(): ConservationCounts {
    return this.#counts;
  }

  measure(): Metrics {
    if (this.#stream !== null) return this.#metrics;
    return measureRecords(() => this.#store.records(), this.#dimension, this.#options.halfLifeHours);
  }

  getSalience(id: string): number | null {
    const record = this.#store.get(id);
    return record === null ? null : computeSalience(record, this.#options.halfLifeHours, this.#findNewest());
  }

  /** The newest time with salience; read again after a change, if salience fades. */
  #findNewest(): number {
    const { sequence } = this.#store;
    if (this.#options.halfLifeHours === null) return 0;
    if (this.#newest?.sequence !== sequence) this.#newest = { sequence, time: findOrigin(this.#store.records()) ?? 0 };
    return this.#newest.time;
  }

  watch(notify: (violation: ConservationViolation) => void): () => void {
    this.#listeners.add(notify);
    return () => this.#listeners.delete(notify);
  }

  /**
   * Makes a write. In the mode `refuse` it waits for the writes before it.
   *
   * @param write passes to `admit` what it is going to write, before it writes. Without a call nothing is refused.
   */
  run<T>(write: (admit: AdmitChanges) => Promise<T>): Promise<T> {
    if (this.#options.mode !== 'off') this.#begin();
    if (this.#options.mode !== 'refuse') return write(() => {});
    return this.#inTurn(async () => {
      try {
        return await write((changes) => this.#admit(changes));
      } finally {
        this.#isAdmitted = false;
      }
    });
  }

  /** Waits for the writes so far. */
  end(): Promise<void> {
    return this.#inTurn(async () => {});
  }

  #begin(): void {
    if (this.#stream !== null) return;
    const stream = new SalienceStream(this.#store, this.#dimension, this.#options.halfLifeHours);
    this.#stream = stream;
    this.#metrics = stream.metrics;
    this.#store.watch((ids) => {
      if (ids.length === 0) return; // an outcome changes no salience
      stream.follow(ids);
      const after = stream.metrics;
      if (!this.#isAdmitted) this.#check(after, ids, this.#store.sequence);
      this.#metrics = after;
    });
  }

  #admit(changes: RecordChanges): void {
    const after = (this.#stream as SalienceStream).measureAfter(changes);
    const ids = [...changes.put.map(({ id }) => id), ...changes.removed];
    const broken = this.#check(after, ids, null);
    if (broken !== null) throw broken;
    this.#isAdmitted = true;
  }

  /** @param sequence null: a broken law means that the change is refused. */
  #check(after: Metrics, ids: readonly string[], sequence: number | null): ConservationViolationError | null {
    const broken = findBrokenLaw(this.#metrics, after, this.#options);
    const { checked, violations, refused } = this.#counts;
    const isBroken = Number(broken !== null);
    this.#counts = {
      checked: checked + 1,
      violations: violations + isBroken,
      refused: refused + (sequence === null ? isBroken : 0),
    };
    if (broken === null) return null;
    const figures = broken.facts as unknown as Omit<ConservationViolation, 'sequence' | 'ids' | 'message'>;
    const { law, before, after: later, magnitudeDrift } = figures;
    for (const notify of this.#listeners)
      notify({ sequence, ids, law, before, after: later, magnitudeDrift, message: broken.message });
    return broken;
  }
}
