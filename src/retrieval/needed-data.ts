import { GRAPH_SIGNALS } from '../signals/bank/graph-signals.ts';
import { bankSignals } from '../signals/bank/options.ts';
import { ADDED_SIGNALS } from '../signals/signal.ts';
import type { WorldPart } from '../signals/worlds/world-parts.ts';
import { listChainSignals, listRelevanceSignals } from './arm-signals.ts';
import type { RetrieverOptions } from './retriever-options.ts';

/** What not every dataset has: hours and dates, an order of its turns, threads (replies, conversations of several turns, channels). */
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

/** The parts of the world that follow from replies and conversations; all turns of data without threads are alike in them. */
const THREAD_PARTS: readonly WorldPart[] = ['replies', 'order', 'trees', 'answer-counts', 'coordinates'];

/** Signals that follow replies where there are any, besides what the texts name and mention. */
const WITHOUT_THREADS: ReadonlySet<string> = new Set(['graph-scores', ...Object.keys(GRAPH_SIGNALS)]);

/** Whether a signal needs a part of the data. What reads times and nothing else ranks by them; other signals read times only to see no later turn. */
const NEEDS: Readonly<Record<DataPart, (reader: Reader) => boolean>> = {
  clock: ({ reads }) => reads.includes('clock'),
  order: ({ reads }) => reads.length === 1 && reads[0] === 'times',
  threads: ({ name, reads }) => !WITHOUT_THREADS.has(name) && reads.some((part) => THREAD_PARTS.includes(part)),
};

/** The first of the parts that a signal needs, threads before the clock: a setting that omits a coordinate does not help where no coordinate has a meaning. */
export function findNeed(reader: Reader, among: ReadonlySet<DataPart>): DataPart | null {
  const parts: readonly DataPart[] = ['threads', 'order', 'clock'];
  return parts.find((part) => among.has(part) && NEEDS[part](reader)) ?? null;
}

const WITHOUT_TEMPORAL = 'set trajectory.weights.temporal: 0';

const LEAVE_OUT = 'leave the signal out';

/** A plugin that declares nothing reads everything. */
const PLUGIN_REMEDIES: Readonly<Record<DataPart, string>> = {
  clock: `${LEAVE_OUT}, or declare reads without clock in its plugin`,
  order: LEAVE_OUT,
  threads: `${LEAVE_OUT}, or declare reads in its plugin, with texts, vectors or attributes alone`,
};

/** By the name of an arm's component. */
const CHAIN: Readonly<Record<string, (options: RetrieverOptions, needs: DataPart) => Omit<DataReader, 'needs'>>> = {
  decay: ({ decay }) => ({ part: `decay with half-life ${decay?.halfLifeHours} hours`, remedy: 'set decay: null' }),
  trajectory: (_, needs) =>
    needs === 'threads'
      ? { part: 'trajectory coordinates', remedy: 'set trajectory: null' }
      : { part: 'trajectory coordinate temporal', remedy: WITHOUT_TEMPORAL },
  attention: ({ attention }, needs) =>
    needs === 'threads'
      ? { part: `attention ${attention?.mechanism}`, remedy: 'set attention: null' }
      : { part: `attention ${attention?.mechanism} by trajectory coordinate temporal`, remedy: WITHOUT_TEMPORAL },
};

/** Sources that rank by the order of turns, or by a time that a question names. */
const SOURCES: Readonly<Record<string, DataPart>> = { newest: 'order', time: 'clock' };

/** Sources, and the options that are no signal. */
function listPlainReaders({ candidates, sameChannel, propagation }: RetrieverOptions): DataReader[] {
  const readers = Object.entries(SOURCES)
    .filter(([name]) => candidates.some(({ index }) => index === name))
    .map(([name, needs]): DataReader => ({ needs, part: `source ${name}`, remedy: `use another source than ${name}` }));
  if (sameChannel) readers.push({ needs: 'threads', part: 'sameChannel', remedy: 'set sameChannel: false' });
  if (propagation !== null) readers.push({ needs: 'threads', part: 'propagation', remedy: 'set propagation: null' });
  return readers;
}

function listScoringReaders({ scoring }: RetrieverOptions, among: ReadonlySet<DataPart>): DataReader[] {
  if (scoring === null) return [];
  return bankSignals(scoring.signals)
    .filter(({ name }) => (scoring.weights[name] ?? 0) !== 0)
    .flatMap((signal) => {
      const needs = findNeed(signal, among);
      const [part, remedy] = [`scoring signal ${signal.name}`, 'remove its weight from scoring.weights'];
      return needs === null ? [] : [{ needs, part, remedy }];
    });
}

/**
 * The parts of an arm that read some part of the data: what its signals declare.
 *
 * @param among the parts of the data that are of interest, such as those that a dataset lacks.
 */
export function listDataReaders(options: RetrieverOptions, among: ReadonlySet<DataPart>): DataReader[] {
  const relevance = [...listRelevanceSignals(options)].flatMap(([name, signal]) => {
    const needs = name === 'cosine' ? null : findNeed(signal, among); // of cosine, propagation alone reads threads
    if (needs === null) return [];
    const remedy = ADDED_SIGNALS.find(name) === undefined ? LEAVE_OUT : PLUGIN_REMEDIES[needs];
    return [{ needs, part: `relevance signal ${name}`, remedy }];
  });
  const chain = [...listChainSignals(options)].flatMap(([name, signal]) => {
    const needs = findNeed(signal, among);
    return needs === null ? [] : [{ needs, ...(CHAIN[name] as (typeof CHAIN)[string])(options, needs) }];
  });
  const plain = listPlainReaders(options).filter(({ needs }) => among.has(needs));
  return [...plain, ...relevance, ...chain, ...listScoringReaders(options, among)];
}
