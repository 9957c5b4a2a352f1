import { GRAPH_SIGNALS } from '../../signals/bank/options.ts';
import type { WorldPart } from '../../signals/worlds/world-parts.ts';

/**
 * Parts that some datasets lack: hours and dates, an order of turns, threads (replies, conversations of several turns,
 * channels).
 */
export type DataPart = 'clock' | 'order' | 'threads';

/** A part of an arm or a model that reads something which not every dataset has, and the setting that omits it. */
export interface DataReader {
  readonly needs: DataPart;
  readonly part: string;
  readonly remedy: string;
}

interface Reader {
  readonly name: string;
  readonly reads: readonly WorldPart[];
}

/** The first of the parts of the data that are of interest which a signal needs; null for none. */
export type FindNeed = (reader: Reader) => DataPart | null;

/**
 * The parts of the world that follow from replies and conversations; all turns of data without threads are alike in
 * them.
 */
const THREAD_PARTS: readonly WorldPart[] = ['replies', 'order', 'trees', 'answer-counts', 'coordinates'];

/** Signals that follow replies where there are any, besides what the texts name and mention. */
const WITHOUT_THREADS: ReadonlySet<string> = new Set(['list-scores', ...Object.keys(GRAPH_SIGNALS)]);

/**
 * True if a signal needs a part of the data. What reads times and nothing else ranks by them; other signals read times
 * only to see no later turn.
 */
const NEEDS: Readonly<Record<DataPart, (reader: Reader) => boolean>> = {
  clock: ({ reads }) => reads.includes('clock'),
  order: ({ reads }) => reads.length === 1 && reads[0] === 'times',
  threads: ({ name, reads }) => !WITHOUT_THREADS.has(name) && reads.some((part) => THREAD_PARTS.includes(part)),
};

/**
 * The first of the parts that a signal needs, threads before the clock: a setting that omits a coordinate does not help
 * where no coordinate has a meaning.
 */
export function findNeed(reader: Reader, among: ReadonlySet<DataPart>): DataPart | null {
  const parts: readonly DataPart[] = ['threads', 'order', 'clock'];
  return parts.find((part) => among.has(part) && NEEDS[part](reader)) ?? null;
}
