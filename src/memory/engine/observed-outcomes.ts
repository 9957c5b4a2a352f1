import { Corpus } from '../../model/turns/corpus.ts';
import type { OutcomeStatistics, Turn } from '../../model/turns/turn.ts';
import { computeObservedMean, type OutcomePool } from '../outcomes/outcome-statistics.ts';

/** The corpus of a pool, and what it was made of. */
interface Made {
  readonly base: Corpus;
  readonly version: number;
  readonly corpus: Corpus;
}

/**
 * The outcomes that were observed of records after they were made, as the arm of a memory reads them: the attribute
 * `outcome` of a turn is the mean of the observations of its record that a pool counts, the mean that priors and the
 * reranker `outcome` read too. A turn without one has no such attribute.
 */
export class ObservedOutcomes {
  /** By the id of the record; those of no outcome are left out. */
  readonly #stats = new Map<string, OutcomeStatistics>();
  readonly #made = new Map<OutcomePool, Made>();
  #version = 0;

  /** @param stats null for a record that is gone. */
  set(id: string, stats: OutcomeStatistics | null): void {
    if (stats !== null && stats.count > 0) this.#stats.set(id, stats);
    else if (!this.#stats.delete(id)) return;
    this.#version++;
  }

  /**
   * The same turns with the outcomes of a pool: the same corpus until something changes, O(N) for N turns after an
   * outcome. Where turns have come after those before, only these are read.
   *
   * @param base turns with the outcomes of their records, as observed when these were made.
   */
  applyTo(base: Corpus, pool: OutcomePool): Corpus {
    if (pool === 'outcome' || (pool === 'both' && this.#stats.size === 0)) return base;
    const made = this.#made.get(pool);
    if (made?.base === base && made.version === this.#version) return made.corpus;
    const isStart = made !== undefined && made.version === this.#version && base.startsWith(made.base);
    const others = base.turns.slice(isStart ? made.base.size : 0).map((turn) => this.#apply(turn, pool));
    const corpus = new Corpus(others, isStart ? { after: made.corpus } : { like: made?.corpus ?? base });
    this.#made.set(pool, { base, version: this.#version, corpus });
    return corpus;
  }

  #apply(turn: Turn, pool: OutcomePool): Turn {
    const stats = this.#stats.get(turn.id);
    if (stats === undefined && pool === 'both') return turn;
    const { outcome = null, ...others } = turn.attributes ?? {};
    const record = { outcome: outcome as number | null, ...(stats && { stats }) };
    const mean = computeObservedMean(record, pool);
    if (mean === outcome) return turn;
    return { ...turn, attributes: mean === null ? others : { ...others, outcome: mean } };
  }
}
