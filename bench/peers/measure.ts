import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UnavailableError } from '../../src/core/errors/errors.ts';
import type { BackendName } from '../../src/core/tensors/active-backend.ts';
import { median } from '../timing.ts';
import { PeerProcess } from './process.ts';
import type { FoundPython, Python } from './python.ts';
import { type Comparison, type Peer, type PeerSize, readDoubles, type WorkGroup, writeSettings } from './work.ts';
import { WORK_GROUPS, type WorkGroupName } from './works.ts';

/** One thread on each side, where a program heeds one of these. */
export const ONE_THREAD = {
  OMP_NUM_THREADS: '1',
  OPENBLAS_NUM_THREADS: '1',
  MKL_NUM_THREADS: '1',
  NUMBA_NUM_THREADS: '1',
  RAYON_NUM_THREADS: '1',
  LANCE_CPU_THREADS: '1',
  TOKIO_WORKER_THREADS: '1',
  TF_NUM_INTRAOP_THREADS: '1',
  TF_NUM_INTEROP_THREADS: '1',
} as const;

/** The cost of a work in one round. */
export interface Cost {
  /** Processor time of all threads of the process. */
  readonly seconds: number;
  readonly wallSeconds: number;
  /** The largest memory of the process during the work. */
  readonly peakBytes: number;
}

/** A work beside one peer: the costs of both in each round. */
export interface PeerRow {
  readonly work: string;
  readonly peer: string;
  readonly comparison: Comparison;
  /** Empty if the results differ. */
  readonly ours: readonly Cost[];
  readonly theirs: readonly Cost[];
}

/** A work that was not done by a peer. */
export interface SkippedWork {
  readonly work: string;
  readonly peer: string;
  readonly reason: string;
}

export interface GroupReport {
  readonly group: WorkGroupName;
  readonly description: string;
  /** By name of the peer, its packages. */
  readonly versions: ReadonlyMap<string, string>;
  readonly rows: readonly PeerRow[];
  readonly skipped: readonly SkippedWork[];
}

export interface GroupOptions {
  readonly size: PeerSize;
  readonly seed: number;
  /** 0 compares without timing. */
  readonly rounds: number;
  /** The works that are timed; earlier ones of the group are done once. */
  readonly works: readonly string[];
  /** That of our tensors. */
  readonly backend: BackendName;
  /** The Python of a peer. */
  readonly find: (requirements: string) => Python;
}

/** A process that does the works of a group; null after it failed. */
interface Side {
  readonly name: string;
  /** The works that it does; absent: all. */
  readonly works?: readonly string[];
  readonly process: PeerProcess;
  /** By work. */
  readonly costs: Map<string, Cost[]>;
  /** The cost of each work before it was timed. */
  readonly untimed: Map<string, Cost>;
  failure: string | null;
}

const OURS = 'rag-plusplus';

const startSide = ({ name, works }: Pick<Peer, 'name' | 'works'>, process: PeerProcess): Side => {
  return {
    name,
    ...(works === undefined ? {} : { works }),
    process,
    costs: new Map(),
    untimed: new Map(),
    failure: null,
  };
};

const does = ({ works }: Pick<Peer, 'works'>, work: string) => works?.includes(work) ?? true;

function startOurs(group: WorkGroupName, folder: string, backend: BackendName): Side {
  const node: FoundPython = {
    command: process.execPath,
    versions: process.version,
    environment: { ...ONE_THREAD, NODE_OPTIONS: '--import tsx' },
  };
  return startSide({ name: OURS }, new PeerProcess(node, 'serve-works.ts', folder, group, backend));
}

function startPeer(group: WorkGroupName, folder: string, peer: Peer, python: FoundPython): Side {
  const environment = { ...python.environment, ...ONE_THREAD };
  return startSide(peer, new PeerProcess({ ...python, environment }, `works/${group}.py`, folder, peer.name));
}

/** The answer of a side. A peer that fails does nothing from then on. @throws UnavailableError if ours fails. */
async function askSide<T>(side: Side, question: object): Promise<T | null> {
  if (side.failure !== null) return null;
  try {
    return await side.process.ask<T>(question);
  } catch (error) {
    if (side.name === OURS || !(error instanceof UnavailableError)) throw error;
    side.failure = error.message;
    return null;
  }
}

/** Does a work on all sides and compares each peer's result with ours. */
async function compareSides(
  { compare }: WorkGroup,
  work: string,
  sides: readonly Side[],
  folder: string,
): Promise<Map<string, Comparison>> {
  const results = new Map<string, Float64Array>();
  for (const [i, side] of sides.entries()) {
    if (!does(side, work)) continue;
    const path = join(folder, `result-${i}.f64`);
    const cost = await askSide<Cost>(side, { work });
    if (cost === null || (await askSide(side, { keep: path })) === null) continue;
    side.untimed.set(work, cost);
    results.set(side.name, readDoubles(folder, `result-${i}.f64`));
    rmSync(path);
  }
  const ours = results.get(OURS)!;
  results.delete(OURS);
  return new Map(Array.from(results, ([peer, theirs]) => [peer, compare(work, ours, theirs, folder)]));
}

/** Compilers and caches are warm after these processor seconds, these seconds on the clock, or as many times. */
const WARM = { seconds: 0.5, wallSeconds: 2, times: 10 };
const isWarm = ({ seconds, wallSeconds }: Omit<Cost, 'peakBytes'>) =>
  seconds >= WARM.seconds || wallSeconds >= WARM.wallSeconds;

/** Repeats short works untimed: Node and numba compile while a work runs. */
async function warmUp(sides: readonly Side[], works: readonly string[]): Promise<void> {
  for (const work of works)
    for (const side of sides.filter((side) => does(side, work))) {
      let { seconds = 0, wallSeconds = 0 } = side.untimed.get(work) ?? {};
      for (let time = 0; time < WARM.times && !isWarm({ seconds, wallSeconds }); time++) {
        const cost = await askSide<Cost>(side, { work });
        seconds += cost?.seconds ?? WARM.seconds;
        wallSeconds += cost?.wallSeconds ?? 0;
      }
    }
}

/** Sides take turns, work by work: a slow moment of the machine hits all of them. */
async function timeRounds(sides: readonly Side[], works: readonly string[], rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round++)
    for (const work of works)
      for (const side of sides) {
        const cost = does(side, work) ? await askSide<Cost>(side, { work }) : null;
        if (cost !== null) side.costs.set(work, [...(side.costs.get(work) ?? []), cost]);
      }
}

const listSkipped = (peer: Pick<Peer, 'name' | 'works'>, works: readonly string[], reason: string): SkippedWork[] =>
  works.filter((work) => does(peer, work)).map((work) => ({ work, peer: peer.name, reason }));

/** Peers with their Python; those without one are skipped, with the reason. */
function findPeers({ peers }: WorkGroup, { find, works }: GroupOptions) {
  const found = peers.map((peer) => ({ peer, python: find(peer.requirements) }));
  return {
    ready: found.flatMap(({ peer, python }) => ('command' in python ? [{ peer, python }] : [])),
    missing: found.flatMap(({ peer, python }) => ('missing' in python ? listSkipped(peer, works, python.missing) : [])),
  };
}

/** Does the works of a group on all sides: first once, to compare the results, then round by round. */
export async function measureGroup(name: WorkGroupName, options: GroupOptions): Promise<GroupReport> {
  const { size, seed, rounds, works, backend } = options;
  const group = await WORK_GROUPS[name]();
  const folder = mkdtempSync(join(tmpdir(), `ragpp-peers-${name}-`));
  const sides: Side[] = [];
  try {
    const all = group.listWorks(size);
    writeSettings(folder, { size, seed, works: all });
    await group.prepare(folder, size, seed);
    const { ready, missing } = findPeers(group, options);
    sides.push(startOurs(name, folder, backend));
    for (const { peer, python } of ready) sides.push(startPeer(name, folder, peer, python));
    const comparisons = new Map<string, Map<string, Comparison>>();
    for (const work of all.slice(0, 1 + Math.max(...works.map((work) => all.indexOf(work)))))
      comparisons.set(work, await compareSides(group, work, sides, folder));
    if (rounds > 0) await warmUp(sides, works);
    await timeRounds(sides, works, rounds);
    const [ours, ...theirs] = sides as [Side, ...Side[]];
    const versions = new Map(ready.map(({ peer, python }) => [peer.name, python.versions]));
    const rows = works.flatMap((work) => theirs.flatMap((side) => buildRow(work, ours, side, comparisons.get(work)!)));
    const failed = theirs.flatMap((side) => {
      const undone = works.filter((work) => !side.costs.has(work));
      return side.failure === null ? [] : listSkipped(side, undone, side.failure);
    });
    return { group: name, description: group.describe(size), versions, rows, skipped: [...missing, ...failed] };
  } finally {
    for (const side of sides) side.process.dispose();
    rmSync(folder, { recursive: true });
  }
}

/** The row of a work and a peer, with the rounds that both did; none if the peer has no result of the work. */
function buildRow(work: string, ours: Side, side: Side, comparisons: ReadonlyMap<string, Comparison>): PeerRow[] {
  const comparison = comparisons.get(side.name);
  if (comparison === undefined) return [];
  const theirs = side.costs.get(work) ?? [];
  const rounds = comparison.differ > 0 ? 0 : theirs.length;
  return [
    {
      work,
      peer: side.name,
      comparison,
      ours: (ours.costs.get(work) ?? []).slice(0, rounds),
      theirs: theirs.slice(0, rounds),
    },
  ];
}

/** Ours over theirs in each round: the least, the median, the most. */
export function listRatios({ ours, theirs }: PeerRow, read: (cost: Cost) => number): readonly [number, number, number] {
  const ratios = ours.map((cost, round) => read(cost) / read(theirs[round]!)).sort((a, b) => a - b);
  return [ratios[0]!, median(ratios), ratios.at(-1)!];
}

export const readSeconds = ({ seconds }: Cost) => seconds;
export const readWallSeconds = ({ wallSeconds }: Cost) => wallSeconds;

/** The median of a figure over the rounds. */
export const readMedian = (costs: readonly Cost[], read: (cost: Cost) => number) => median(costs.map(read));
