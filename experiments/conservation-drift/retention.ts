import type { Corpus } from '../../src/model/turns/corpus.ts';
import type { DriftSettings } from './settings.ts';

export const DAY_MILLISECONDS = 86_400_000;

/** The turns that a memory keeps. */
export interface Retention {
  readonly name: string;
  readonly description: string;
  /** Raw salience of a turn, the same from its entry to its leaving. */
  salienceOf(position: number): number;
  /** Takes in the turn at a corpus position; turns come in time order. */
  admit(position: number): void;
  /** The positions to remove by a time; each is returned once. */
  release(moment: number): number[];
}

function keepEverything(): Retention {
  return {
    name: 'keep everything',
    description: 'nothing ever leaves, all messages weigh the same',
    salienceOf: () => 1,
    admit() {},
    release: () => [],
  };
}

/** Turns come in time order, so those that are too old are the first of what is kept. */
function keepDays(corpus: Corpus, days: number): Retention {
  let oldest = 0;
  let admitted = 0;
  return {
    name: `${days} days`,
    description: `a message leaves ${days} days after it came, all weigh the same`,
    salienceOf: () => 1,
    admit(position) {
      admitted = position + 1;
    },
    release(moment) {
      const first = oldest;
      while (oldest < admitted && (corpus.timestamps[oldest] as number) <= moment - days * DAY_MILLISECONDS) oldest++;
      return Array.from({ length: oldest - first }, (_, i) => first + i);
    },
  };
}

/** As all fade at one rate, a salience that grows with the time of entry has the same shares as one that falls with age, and never has to be updated. */
function keepDaysFading(corpus: Corpus, days: number, halfLifeDays: number): Retention {
  const start = corpus.timestamps[0] as number;
  return {
    ...keepDays(corpus, days),
    name: `${days} days, fading`,
    description: `a message leaves ${days} days after it came, and its weight halves every ${halfLifeDays} days`,
    salienceOf: (position) =>
      2 ** (((corpus.timestamps[position] as number) - start) / (halfLifeDays * DAY_MILLISECONDS)),
  };
}

/** The oldest message of the thread that has been silent for longest leaves first. A Map iterates its keys in the order in which they were set. */
function keepBusyThreads(corpus: Corpus, capacity: number): Retention {
  const threads = new Map<number, number[]>();
  let size = 0;
  return {
    name: `busiest ${capacity}`,
    description: `room for ${capacity} messages, those of the thread that is silent for longest leave first; a message weighs as much as its thread had messages with it`,
    salienceOf: (position) => 1 + (corpus.ringPosition[position] as number),
    admit(position) {
      const thread = corpus.conversationOf[position] as number;
      const kept = threads.get(thread) ?? [];
      threads.delete(thread);
      threads.set(thread, kept);
      kept.push(position);
      size++;
    },
    release() {
      const leaving: number[] = [];
      while (size > capacity) {
        const [thread, kept] = threads.entries().next().value as [number, number[]];
        leaving.push(kept.shift() as number);
        if (kept.length === 0) threads.delete(thread);
        size--;
      }
      return leaving;
    },
  };
}

/** The policies that are compared, fresh. */
export function createRetentions(
  corpus: Corpus,
  { retentionDays, halfLifeDays, capacity }: DriftSettings,
): Retention[] {
  return [
    keepEverything(),
    keepDays(corpus, retentionDays),
    keepDaysFading(corpus, retentionDays, halfLifeDays),
    keepBusyThreads(corpus, capacity),
  ];
}
