import { spawn } from 'node:child_process';
import { existsSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { build } from 'esbuild';
import { createRandom } from '../../core/numbers/random.ts';
import type { MemoryRecord } from '../../model/turns/turn.ts';
import { listExpected } from './kill-writer.harness.ts';
import { openStore } from './open-store.ts';
import { WRITERS } from './write-until-killed.harness.ts';

/** What a series of kills went through. */
export interface KillReport {
  readonly kills: number;
  /** Kills of a process that had opened the store. */
  readonly whileWriting: number;
  readonly acknowledged: number;
  /** Operations that were there without an acknowledgement. */
  readonly unacknowledged: number;
  readonly snapshots: number;
  /** Folders that a kill left with an unfinished snapshot, or with what a snapshot replaces. */
  readonly duringSnapshots: number;
}

/** Writers of a store, and how to see what is there. */
export interface KilledWriters {
  /** The path of the program. */
  readonly entry: string;
  /** Writers at the same time. Default: {@link WRITERS}. */
  readonly count?: number;
  /** Default: `bundle`. See {@link buildWriter}. */
  readonly packages?: 'bundle' | 'external';
  /** Opens the store and compares it with what each writer did. @returns the operations of each. @throws Error for a store that is not as it must be. */
  check(folder: string, acknowledged: readonly number[]): Promise<number[]>;
}

/**
 * The program in one file, which starts in a tenth of a second.
 *
 * @param packages `external` leaves packages where they are, for a program that can reach native ones.
 */
export async function buildWriter(
  folder: string,
  entry: string,
  packages: 'bundle' | 'external' = 'bundle',
): Promise<string> {
  const outfile = join(folder, 'writer.mjs');
  const banner =
    "import { createRequire as makeRequire } from 'node:module'; const require = makeRequire(import.meta.url);";
  await build({
    ...{ entryPoints: [entry], outfile, bundle: true, platform: 'node', format: 'esm', packages },
    banner: packages === 'bundle' ? { js: banner } : {},
  });
  if (packages === 'external')
    symlinkSync(join(import.meta.dirname, '../../../node_modules'), join(folder, 'node_modules'));
  return outfile;
}

/** When a process is killed: milliseconds after its start, or after it has opened the store. */
interface Moment {
  readonly from: 'start' | 'open';
  readonly delay: number;
}

/** Starts writers and kills them. @returns what they printed. */
async function killWriters(
  program: string,
  folder: string,
  done: readonly number[],
  moment: Moment,
): Promise<string[]> {
  const child = spawn(process.execPath, [program, folder, JSON.stringify(done)], {
    env: { ...process.env, RAGPP_KILL_WRITER: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [output, errors] = ['', ''];
  const killLater = () => setTimeout(() => child.kill('SIGKILL'), moment.delay);
  const ended = new Promise<NodeJS.Signals | null>((resolve) => child.on('close', (_, signal) => resolve(signal)));
  if (moment.from === 'start') killLater();
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    if (output === '' && moment.from === 'open') killLater();
    output += text;
  });
  if ((await ended) !== 'SIGKILL') throw new Error(`the writers ended by themselves: ${errors}`);
  return output.split('\n').slice(0, -1);
}

/** The number of operations of a writer that a store shows; an error unless it is the acknowledged one, or one more. */
export function findSteps<T>(
  writer: number,
  acknowledged: number,
  stored: readonly T[],
  expect: (writer: number, steps: number) => readonly T[],
): number {
  const fits = (count: number) => isDeepStrictEqual(expect(writer, count), stored);
  const steps = [acknowledged, acknowledged + 1].find(fits);
  if (steps !== undefined) return steps;
  const shown = JSON.stringify(stored).slice(0, 3000);
  throw new Error(`writer ${writer} has acknowledged ${acknowledged} operations, and the store has ${shown}`);
}

/** The items of each writer, whose ids begin with its name. */
export function groupByWriter<T extends { readonly id: string }>(items: Iterable<T>): T[][] {
  const groups = Array.from({ length: WRITERS }, (): T[] => []);
  for (const item of items) groups[Number(/^w(\d+)-/.exec(item.id)?.[1])]?.push(item);
  return groups;
}

/** @throws Error unless a store counts the operations of its writers, and no other. */
export function assertCount(operations: number, steps: readonly number[]): void {
  const sum = steps.reduce((total, count) => total + count, 0);
  if (operations !== sum) throw new Error(`the store has ${operations} operations, the writers ${sum}`);
}

const sortById = (list: readonly MemoryRecord[]) => list.toSorted((a, b) => (a.id < b.id ? -1 : 1));

export const RECORD_WRITERS: KilledWriters = {
  entry: join(import.meta.dirname, 'kill-writer.harness.ts'),
  async check(folder, acknowledged) {
    const store = await openStore(folder);
    try {
      const records = groupByWriter(store.records());
      const expect = (writer: number, steps: number) => sortById(listExpected(writer, steps));
      const steps = acknowledged.map((count, writer) =>
        findSteps(writer, count, sortById(records[writer] as MemoryRecord[]), expect),
      );
      assertCount(store.sequence, steps);
      return steps;
    } finally {
      await store.close();
    }
  },
};

/** True if a folder has an unfinished snapshot, or one that was not yet removed. */
function hasUnfinished(folder: string): boolean {
  const found = existsSync(folder) ? readdirSync(folder).filter((name) => name.startsWith('snapshot-')) : [];
  return found.length > 1 || found.some((name) => name.endsWith('.partial'));
}

const drawMoment = (uniform: () => number): Moment =>
  uniform() < 0.2 ? { from: 'start', delay: 40 + 160 * uniform() } : { from: 'open', delay: 120 * uniform() };

/**
 * Kills a process with writers again and again, and checks the store after each kill: every acknowledged operation is
 * there, of each writer at most one more, each as a whole, and the store counts no other.
 *
 * @param folder for the program and the store.
 * @param writers of records by default.
 * @throws Error for a store that is not as it must be.
 */
export async function runKills(
  folder: string,
  kills: number,
  seed: number,
  writers: KilledWriters = RECORD_WRITERS,
): Promise<KillReport> {
  const program = await buildWriter(folder, writers.entry, writers.packages);
  const path = join(folder, 'store');
  const random = createRandom(seed, 'kills');
  const counts = { whileWriting: 0, acknowledged: 0, unacknowledged: 0, snapshots: 0, duringSnapshots: 0 };
  let done = new Array<number>(writers.count ?? WRITERS).fill(0);
  for (let kill = 0; kill < kills; kill++) {
    const lines = await killWriters(
      program,
      path,
      done,
      drawMoment(() => random.uniform()),
    );
    const acknowledged = [...done];
    for (const line of lines) {
      const [, writer, step] = /^(\d+) (\d+)$/.exec(line) ?? [];
      if (writer !== undefined) acknowledged[Number(writer)] = Number(step);
      counts.snapshots += Number(line === 'snapshot');
    }
    counts.whileWriting += Number(lines.length > 0);
    counts.duringSnapshots += Number(hasUnfinished(path));
    const steps = await writers.check(path, acknowledged);
    const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
    counts.acknowledged += sum(acknowledged) - sum(done);
    counts.unacknowledged += sum(steps) - sum(acknowledged);
    done = steps;
  }
  return { kills, ...counts };
}
