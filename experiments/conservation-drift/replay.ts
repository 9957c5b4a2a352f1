import { ConservationViolationError } from '../../src/core/errors/errors.ts';
import { viewRow } from '../../src/core/tensors/rows.ts';
import type { Corpus } from '../../src/model/turns/corpus.ts';
import { validateConservation } from '../../src/ops/conservation/conservation-laws.ts';
import type { ConservationMetrics } from '../../src/ops/conservation/conservation-metrics.ts';
import { ConservationStream } from '../../src/ops/conservation/conservation-stream.ts';
import { DAY_MILLISECONDS, type Retention } from './retention.ts';

/** The memory at the end of a day (UTC). */
export interface DailySample extends ConservationMetrics {
  readonly time: number;
}

/** The checks of the conservation laws for single operations. */
interface Tally {
  readonly added: number;
  readonly removed: number;
  /** Additions and removals after which information was less. */
  readonly addedFell: number;
  readonly removedFell: number;
  /** Operations that moved magnitude by more than the threshold. */
  readonly violations: number;
}

export interface Replay {
  readonly name: string;
  readonly description: string;
  readonly samples: readonly DailySample[];
  readonly tally: Tally;
}

type Counts = { -readonly [Name in keyof Tally]: Tally[Name] };

/** A memory whose every operation is held to the laws. */
class WatchedMemory {
  readonly tally: Counts = { added: 0, removed: 0, addedFell: 0, removedFell: 0, violations: 0 };
  readonly #stream: ConservationStream;
  #metrics: ConservationMetrics;

  constructor(dimension: number) {
    this.#stream = new ConservationStream(dimension);
    this.#metrics = this.#stream.computeStreamMetrics();
  }

  get metrics(): ConservationMetrics {
    return this.#metrics;
  }

  add(position: number, embedding: Float32Array, salience: number): void {
    this.#stream.add(String(position), embedding, salience);
    this.#watch('added');
  }

  remove(position: number): void {
    this.#stream.remove(String(position));
    this.#watch('removed');
  }

  #watch(operation: 'added' | 'removed'): void {
    const before = this.#metrics;
    this.#metrics = this.#stream.computeStreamMetrics();
    this.tally[operation]++;
    try {
      const { warnings } = validateConservation(before, this.#metrics);
      this.tally[`${operation}Fell`] += warnings.length;
    } catch (error) {
      if (!(error instanceof ConservationViolationError)) throw error;
      this.tally.violations++;
    }
  }
}

/**
 * Adds the turns of a corpus to a memory in time order, removes them by the policy, and measures the memory at the end of each day. O(N D).
 *
 * @param embeddings row-major [N, D]
 * @param onDay called with the number of days done
 */
export function replay(
  corpus: Corpus,
  embeddings: Float32Array,
  retention: Retention,
  onDay: (days: number) => void = () => {},
): Replay {
  const dimension = embeddings.length / corpus.size;
  const memory = new WatchedMemory(dimension);
  const release = (moment: number) => {
    for (const position of retention.release(moment)) memory.remove(position);
  };
  const samples: DailySample[] = [];
  let next = 0;
  for (const time of listDayEnds(corpus)) {
    for (; next < corpus.size && (corpus.timestamps[next] as number) < time; next++) {
      const moment = corpus.timestamps[next] as number;
      release(moment);
      memory.add(next, viewRow(embeddings, dimension, next), retention.salienceOf(next));
      retention.admit(next);
      release(moment);
    }
    release(time);
    samples.push({ time, ...memory.metrics });
    onDay(samples.length);
  }
  return { name: retention.name, description: retention.description, samples, tally: memory.tally };
}

/** The midnights after the first message up to the one after the last. */
export function listDayEnds(corpus: Corpus): number[] {
  if (corpus.size === 0) return [];
  const [first, last] = [corpus.timestamps[0], corpus.timestamps[corpus.size - 1]].map((time) =>
    Math.floor((time as number) / DAY_MILLISECONDS),
  ) as [number, number];
  return Array.from({ length: last - first + 1 }, (_, i) => (first + 1 + i) * DAY_MILLISECONDS);
}
