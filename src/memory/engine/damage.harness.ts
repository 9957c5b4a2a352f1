import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Fsync } from '../../core/journal/segment-writer.ts';
import { listSegments } from '../../core/journal/segments.ts';
import { createRandom, type Random } from '../../core/numbers/random.ts';
import { buildWriter } from '../store/kills.harness.ts';
import { applyStep, DIMENSION, drawSteps, drawVector, type Held, listHeld, type Step } from './damage-steps.fixture.ts';
import { AT_ONCE, type WriterTask } from './damage-writer.harness.ts';
import { findStrayAnswer } from './flat-scan.oracle.ts';
import type { MemoryInput } from './memory-options.ts';
import { openMemory } from './open-memory.ts';

/** The fate of the last segment of a journal. */
export type Damage = 'none' | 'cut' | 'flipped' | 'deleted';

/** The counts of a series of rounds. */
export interface DamageReport {
  readonly rounds: number;
  /** Rounds with damage. */
  readonly damaged: number;
  /** Openings that a damaged journal refused. */
  readonly refused: number;
  /** Openings that reported a loss, and the acknowledged changes that were lost; every other one had lost none. */
  readonly reported: number;
  readonly lost: number;
  /** Acknowledged changes that were there. */
  readonly kept: number;
}

/** The output of a writer about a task. */
interface Writing {
  /**
   * The number of the last change when it was opened; null: the opening was refused; undefined: the process ended
   * before.
   */
  readonly opened?: number | null;
  readonly warnings: readonly string[];
  readonly acknowledged: number;
}

/** Starts a process for tasks. @returns what it printed of each. @throws Error if it ended by itself before the end. */
function runWriters(program: string, random: Random, tasks: readonly WriterTask[]): Writing[] {
  const steps = tasks.reduce((sum, task) => sum + task.steps, 0);
  const killAfter = random.uniform() < 0.7 ? 1 + random.integer(steps) : null;
  const { stdout, stderr, signal, status } = spawnSync(
    process.execPath,
    [program, JSON.stringify({ tasks, killAfter })],
    {
      encoding: 'utf8',
      env: { ...process.env, RAGPP_DAMAGE_WRITER: '1' },
    },
  );
  if (signal !== 'SIGKILL' && status !== 0) throw new Error(`the writer ended by itself: ${stderr}`);
  const writings = tasks.map((): Writing => ({ warnings: [], acknowledged: 0 }));
  for (const line of stdout.split('\n').slice(0, -1)) {
    const { task, ...found } = JSON.parse(line) as { task: number };
    writings[task] = { ...(writings[task] as Writing), ...found };
  }
  return writings;
}

/** Damages the last segment. */
function damageFolder(folder: string, damage: Damage, random: Random): void {
  const path = existsSync(folder) ? listSegments(folder).at(-1)?.path : undefined;
  if (path === undefined) return; // the writer was killed before
  const bytes = readFileSync(path);
  if (damage === 'deleted') rmSync(path);
  if (damage === 'cut') truncateSync(path, random.integer(bytes.byteLength + 1));
  if (damage !== 'flipped' || bytes.byteLength === 0) return;
  const at = random.integer(bytes.byteLength);
  bytes[at] = (bytes[at] as number) ^ (1 + random.integer(255));
  writeFileSync(path, bytes);
}

const INDEXES: MemoryInput['indexes'] = { exact: { index: 'flat' }, graph: { index: 'hnsw' } };
const pick = <T>(random: Random, items: readonly T[]) => items[random.integer(items.length)] as T;

function drawTask(random: Random, folder: string, steps: number): WriterTask {
  const fsync = pick<Fsync>(random, ['always', 'interval', 'never']);
  return {
    memory: { folder, dimension: DIMENSION, indexes: INDEXES, fsync },
    seed: random.integer(2 ** 30),
    steps,
    snapshotAfter: random.uniform() < 0.3 ? 1 + random.integer(steps) : null,
  };
}

const replay = (held: Held, steps: readonly Step[]) => steps.reduce(applyStep, held);

function assertRound(holds: boolean, message: string): asserts holds {
  if (!holds) throw new Error(message);
}

type Counts = Omit<DamageReport, 'rounds'>;

/** A memory with two writers and damage between them. */
class Round {
  readonly #folder: string;
  readonly #random: Random;
  readonly #damage: Damage;
  readonly first: WriterTask;
  readonly second: WriterTask;

  constructor(folder: string, random: Random) {
    this.#folder = folder;
    this.#random = random;
    this.#damage = pick<Damage>(random, ['none', 'cut', 'flipped', 'deleted']);
    this.first = drawTask(random, folder, 1 + random.integer(44));
    this.second = drawTask(random, folder, 1 + random.integer(20));
  }

  damage(): void {
    damageFolder(this.#folder, this.#damage, this.#random);
  }

  /** @throws Error for a memory that is not as it must be. */
  async check(before: Writing, after: Writing): Promise<Counts> {
    const damage = this.#damage;
    const { first, second } = this;
    const damaged = Number(damage !== 'none');
    if (after.opened === null || after.opened === undefined) {
      assertRound(damage === 'flipped' || after.opened === undefined, `a folder with damage ${damage} was refused`);
      return { damaged, refused: Number(after.opened === null), reported: 0, lost: 0, kept: 0 };
    }
    const lost = Math.max(0, before.acknowledged - after.opened);
    this.#checkReport(damage, lost, after);
    const firstSteps = drawSteps(new Map(), first.steps, first.seed);
    const held = replay(new Map(), firstSteps.slice(0, after.opened));
    const gone = firstSteps.slice(after.opened).map(({ content }) => drawVector(content));
    await this.#compare(after, drawSteps(held, second.steps, second.seed), held, gone);
    return {
      ...{ damaged, refused: 0, reported: Number(after.warnings.length > 0), lost },
      kept: before.acknowledged - lost + after.acknowledged,
    };
  }

  /**
   * A loss is reported with its number, which may count changes that were acknowledged as the writer was killed;
   * nothing else is.
   */
  #checkReport(damage: Damage, lost: number, { opened, warnings }: Writing): void {
    const said = `lost after ${opened}: ${lost}; reported: ${warnings.join(' ') || 'nothing'}`;
    assertRound(damage !== 'none' || (lost === 0 && warnings.length === 0), `without damage, ${said}`);
    const reported = Number(/ (\d+) acknowledged at its end (?:is|are) missing/.exec(warnings[0] ?? '')?.[1] ?? 0);
    const isRight = reported >= lost && reported <= lost + AT_ONCE && warnings.length === Math.min(1, reported);
    assertRound(isRight, `with damage ${damage}, ${said}`);
  }

  async #compare(after: Writing, steps: readonly Step[], held: Held, gone: readonly Float32Array[]): Promise<void> {
    for (const opening of ['first', 'second']) {
      const memory = await openMemory({ folder: this.#folder, dimension: DIMENSION, indexes: INDEXES });
      try {
        const made = memory.sequence - (after.opened as number);
        assertRound(made >= after.acknowledged, `${after.acknowledged} were acknowledged, and ${made} are there`);
        const expected = replay(held, steps.slice(0, made));
        assertRound(isDeepStrictEqual(listHeld(memory), expected), `the ${opening} opening has other records`);
        // Reported again: until a change is acknowledged, and by the opening that replaces the indexes of before the loss.
        const isRepeated = opening === 'first' || after.acknowledged === 0;
        const mayReport = isRepeated && after.warnings.length > 0;
        const isQuiet = mayReport || memory.warnings.length === 0;
        assertRound(isQuiet, `the ${opening} opening reports ${memory.warnings.join()}`);
        const known = [...expected.values()].map(({ content }) => drawVector(content));
        const stray = await findStrayAnswer(memory, [...gone, ...known]);
        assertRound(stray === null, `the ${opening} opening: ${stray}`);
      } finally {
        await memory.close();
      }
    }
  }
}

/** Memories that a process writes to at the same time: its start takes longer than its writes. */
const TOGETHER = 8;

/**
 * Lets a process write to memories until it is killed or ends, damages the last segment of the journal or not, lets
 * another process write, and opens each memory. Every loss is reported when a memory is opened after the damage, with
 * its number; there is none without damage. What each index finds is what a scan of the records finds, and the
 * records are those of the changes that are left.
 *
 * @param folder for the program and the memories.
 * @throws Error naming the round, for a memory that is not as it must be.
 */
export async function runDamageRounds(folder: string, rounds: number, seed: number): Promise<DamageReport> {
  const program = await buildWriter(folder, join(import.meta.dirname, 'damage-writer.harness.ts'), 'external');
  const sums = { damaged: 0, refused: 0, reported: 0, lost: 0, kept: 0 };
  for (let start = 0; start < rounds; start += TOGETHER) {
    const random = createRandom(seed, `writers from ${start}`);
    const numbers = Array.from({ length: Math.min(TOGETHER, rounds - start) }, (_, i) => start + i);
    const group = numbers.map((i) => new Round(join(folder, `memory-${i}`), createRandom(seed, `round ${i}`)));
    const run = (tasks: readonly WriterTask[]) => runWriters(program, random, tasks);
    const before = run(group.map(({ first }) => first));
    for (const round of group) round.damage();
    const after = run(group.map(({ second }) => second));
    for (const [i, round] of group.entries()) {
      const counts = await round.check(before[i] as Writing, after[i] as Writing).catch((error: Error) => {
        throw new Error(`round ${start + i} of seed ${seed}: ${error.message}`, { cause: error });
      });
      for (const key of Object.keys(sums) as (keyof typeof sums)[]) sums[key] += counts[key];
      rmSync(join(folder, `memory-${start + i}`), { recursive: true, force: true });
    }
  }
  return { rounds, ...sums };
}
