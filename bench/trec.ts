import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ValidationError } from '../src/core/errors/errors.ts';
import { evaluate } from '../src/eval/metrics/evaluate.ts';
import { readQrels, readRun } from '../src/eval/trec/trec-files.ts';
import { runInChild } from './child.ts';
import { parseIntegerOption, parsePositiveOption } from './integer-option.ts';
import { PeerProcess } from './peers/process.ts';
import type { FoundPython } from './peers/python.ts';
import { installPython } from './peers/venv.ts';
import { formatTextTable } from './text-table.ts';
import { median } from './timing.ts';
import { JUDGED, locateTrecFile, type TrecSizes, writeTrecWorkload } from './trec-workload.ts';
import { EVALUATION, METRIC_NAMES, TREC_METRICS, TREC_WORKS, type TrecCost, type TrecWork } from './trec-works.ts';

const PEERS = ['pytrec_eval', 'none'] as const;

export const TREC_USAGE = `trec [options]   reading a run and judgements, and evaluating the run, beside pytrec_eval, which is installed in a virtual environment
    --queries Q        (default 10000)
    --documents D      that the run ranks for each query, at least ${JUDGED.ranked} (default 100)
    --rounds R         processes of each side in turn; in each every work is done twice (default 3)
    --peer P           ${PEERS.join(', ')} (default pytrec_eval)
    --seed S           from 0 (default 7)`;

/** Rows of the run and of the judgements, and values of the metrics: both sides must have the same. */
interface PeerValues {
  readonly run: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly qrels: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly values: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

/** Each work twice: the first time compiles. */
const TWICE = TREC_WORKS.flatMap((work) => [work, work]);
const TOLERANCE = 1e-9;

function pickSecond(costs: readonly TrecCost[]): TrecCost[] {
  return TREC_WORKS.map((work) => costs.findLast((cost) => cost.work === work) as TrecCost);
}

async function measureHere(folder: string): Promise<TrecCost[]> {
  return pickSecond(await runInChild<TrecCost[]>('./trec-child.ts', { folder, works: TWICE }));
}

async function measurePeer(python: FoundPython, folder: string, keepsValues: boolean): Promise<TrecCost[]> {
  const peer = new PeerProcess(python, 'trec.py', folder);
  try {
    const costs: TrecCost[] = [];
    for (const work of TWICE) costs.push({ work, ...(await peer.ask<Omit<TrecCost, 'work'>>({ work })) });
    if (keepsValues) await peer.ask({ work: 'values' });
    return pickSecond(costs);
  } finally {
    peer.dispose();
  }
}

/** Compares all rows and values with those of the peer. @returns how many there are, and how many differ. */
export function compareTrec(
  folder: string,
  theirs: PeerValues,
): { readonly compared: number; readonly differ: number } {
  const run = readRun(locateTrecFile(folder, 'run'));
  const qrels = readQrels(locateTrecFile(folder, 'qrels'));
  const { queryIds, values } = evaluate(run, qrels, TREC_METRICS, EVALUATION);
  let [compared, differ, found] = [0, 0, 0];
  const compare = (ours: number, other: number | undefined) => {
    compared++;
    if (other !== undefined) found++;
    if (other === undefined || !(Math.abs(ours - other) <= TOLERANCE)) differ++;
  };
  const countRows = (table: Readonly<Record<string, object>>) =>
    Object.values(table).reduce((sum, row) => sum + Object.keys(row).length, 0);
  for (const [query, ranking] of run) for (const { id, score } of ranking) compare(score, theirs.run[query]?.[id]);
  for (const [query, grades] of qrels) for (const [id, grade] of grades) compare(grade, theirs.qrels[query]?.[id]);
  const theirsAlone = countRows(theirs.run) + countRows(theirs.qrels) - found;
  for (const [metric, name] of Object.entries(METRIC_NAMES))
    for (const [i, query] of queryIds.entries()) compare(values[metric]![i]!, theirs.values[query]?.[name]);
  return { compared, differ: differ + theirsAlone };
}

/** A line for each work: processor seconds and peak memory of both, and their ratios. */
export function formatTrecTable(ours: readonly TrecCost[][], theirs: readonly TrecCost[][]): string {
  const list = (rounds: readonly TrecCost[][], work: TrecWork) =>
    rounds.map((costs) => costs.find((cost) => cost.work === work) as TrecCost);
  const lines = TREC_WORKS.map((work) => {
    const [own, other] = [list(ours, work), list(theirs, work)];
    const megabytes = (costs: readonly TrecCost[]) => median(costs.map(({ peakBytes }) => peakBytes)) / 1e6;
    const seconds = (costs: readonly TrecCost[]) => median(costs.map((cost) => cost.seconds)).toFixed(3);
    if (other.length === 0) return [work, seconds(own), '-', '-', '-', '-', megabytes(own).toFixed(0), '-'];
    const ratios = own.map((cost, round) => cost.seconds / other[round]!.seconds).sort((a, b) => a - b);
    const shown = [ratios[0]!, median(ratios), ratios.at(-1)!].map((ratio) => ratio.toFixed(2));
    return [work, seconds(own), seconds(other), ...shown, megabytes(own).toFixed(0), megabytes(other).toFixed(0)];
  });
  const header = ['work', 'ours, s', 'peer, s', 'ratio, least', 'median', 'most', 'ours, MB', 'peer, MB'];
  return formatTextTable(header, lines);
}

/** Prints the table of the bench. */
export async function benchTrec(args: readonly string[]): Promise<void> {
  const { sizes, rounds, peer } = parseOptions(args);
  const folder = mkdtempSync(join(tmpdir(), 'ragpp-trec-'));
  try {
    writeTrecWorkload(folder, sizes);
    console.log(
      `machine: ${cpus()[0]?.model ?? 'unknown'}, ${cpus().length} cores; load ${loadavg()[0]?.toFixed(1)}; node ${process.version}`,
    );
    console.log(
      `data: ${sizes.queries} queries x ${sizes.documents} documents, seed ${sizes.seed}; the median of ${rounds} rounds`,
    );
    const python = peer === 'none' ? null : installPython('trec-requirements.txt');
    const found = python !== null && 'command' in python ? python : null;
    const [ours, theirs]: [TrecCost[][], TrecCost[][]] = [[], []];
    for (let round = 0; round < rounds; round++) {
      ours.push(await measureHere(folder));
      if (found !== null) theirs.push(await measurePeer(found, folder, round === 0));
    }
    if (found !== null) {
      const { compared, differ } = compareTrec(folder, JSON.parse(readFileSync(join(folder, 'values.json'), 'utf8')));
      console.log(`${differ} of ${compared} rows and values differ from those of the peer`);
    }
    console.log(`\n${formatTrecTable(ours, theirs)}\n`);
    if (python === null) console.log('no peer was asked for');
    else console.log('command' in python ? `peer: ${python.versions}` : `no peer: ${python.missing}`);
    console.log('seconds: of the processor; MB: the peak of the process up to the work');
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function parseOptions(args: readonly string[]) {
  const { values } = parseArgs({
    args: [...args],
    options: {
      queries: { type: 'string', default: '10000' },
      documents: { type: 'string', default: '100' },
      rounds: { type: 'string', default: '3' },
      peer: { type: 'string', default: 'pytrec_eval' },
      seed: { type: 'string', default: '7' },
    },
  });
  const parse = (name: 'queries' | 'documents' | 'rounds') => parsePositiveOption(name, values[name]);
  const peer = PEERS.find((name) => name === values.peer);
  if (peer === undefined) throw new ValidationError(`unknown --peer: ${values.peer}; use one of ${PEERS.join(', ')}`);
  const sizes: TrecSizes = {
    queries: parse('queries'),
    documents: parse('documents'),
    seed: parseIntegerOption('seed', values.seed, 0),
  };
  if (sizes.documents < JUDGED.ranked)
    throw new ValidationError(`--documents is too small: ${sizes.documents}; give one from ${JUDGED.ranked}`);
  return { sizes, rounds: parse('rounds'), peer };
}
