import { spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { build } from 'esbuild';
import { createRandom } from '../../core/random.ts';
import type { MemoryRecord } from '../../model/memory-record.ts';
import { listExpected, WRITERS } from './kill-writer.harness.ts';
import { openStore } from './open-store.ts';

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

/** The program in one file, which starts in a tenth of a second. */
export async function buildWriter(folder: string): Promise<string> {
  const outfile = join(folder, 'writer.mjs');
  const entry = join(import.meta.dirname, 'kill-writer.harness.ts');
  const banner = "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);";
  await build({ entryPoints: [entry], outfile, bundle: true, platform: 'node', format: 'esm', banner: { js: banner } });
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

/** The number of operations of a writer that the store shows; an error unless it is the acknowledged one, or one more. */
function findSteps(writer: number, acknowledged: number, records: readonly MemoryRecord[]): number {
  const sort = (list: readonly MemoryRecord[]) => list.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const stored = sort(records);
  const fits = (count: number) => isDeepStrictEqual(sort(listExpected(writer, count)), stored);
  const steps = [acknowledged, acknowledged + 1].find(fits);
  if (steps !== undefined) return steps;
  const shown = JSON.stringify(stored.map(({ id, stats, createdAt }) => ({ id, count: stats.count, createdAt })));
  throw new Error(`writer ${writer} has acknowledged ${acknowledged} operations, and the store has ${shown}`);
}

/** Opens the store and compares it with what each writer did. @returns the operations of each. */
async function checkStore(folder: string, acknowledged: readonly number[]): Promise<number[]> {
  const store = await openStore(folder);
  try {
    const records = Array.from({ length: WRITERS }, (): MemoryRecord[] => []);
    for (const record of store.records()) records[Number(/^w(\d+)-/.exec(record.id)?.[1])]?.push(record);
    const steps = acknowledged.map((count, writer) => findSteps(writer, count, records[writer] as MemoryRecord[]));
    const sum = steps.reduce((total, count) => total + count, 0);
    if (store.sequence !== sum) throw new Error(`the store has ${store.sequence} operations, the writers ${sum}`);
    return steps;
  } finally {
    await store.close();
  }
}

/** Whether a folder has an unfinished snapshot, or one that was not yet removed. */
function hasUnfinished(folder: string): boolean {
  const found = existsSync(folder) ? readdirSync(folder).filter((name) => name.startsWith('snapshot-')) : [];
  return found.length > 1 || found.some((name) => name.endsWith('.partial'));
}

const drawMoment = (uniform: () => number): Moment =>
  uniform() < 0.2 ? { from: 'start', delay: 40 + 160 * uniform() } : { from: 'open', delay: 120 * uniform() };

/**
 * Kills a process with {@link WRITERS} writers again and again, and checks the store after each kill: every acknowledged operation is there, of each writer at
 * most one more, each as a whole, and the store counts no other.
 *
 * @param folder for the program and the store.
 * @throws Error for a store that is not as it must be.
 */
export async function runKills(folder: string, kills: number, seed: number): Promise<KillReport> {
  const program = await buildWriter(folder);
  const path = join(folder, 'store');
  const random = createRandom(seed, 'kills');
  const counts = { whileWriting: 0, acknowledged: 0, unacknowledged: 0, snapshots: 0, duringSnapshots: 0 };
  let done = new Array<number>(WRITERS).fill(0);
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
    const steps = await checkStore(path, acknowledged);
    const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
    counts.acknowledged += sum(acknowledged) - sum(done);
    counts.unacknowledged += sum(steps) - sum(acknowledged);
    done = steps;
  }
  return { kills, ...counts };
}
