import { existsSync, lstatSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { findOwnFile, PROJECT_ROOT } from '../../core/code/package-root.ts';
import { computeHash } from '../../core/hash/hash.ts';
import type { BackendChoice, BackendName } from '../../core/tensors/backend.ts';
import type { ExperimentConfig } from '../config/config.ts';

// Loads no schema and no registry, so that the same command is answered without them.

/** The file of a run's folder by which the same run is shown from there. */
export const FINISHED = 'finished.json';

/** The folder in which `ragpp run` makes the folders of runs, by default. */
export const RESULTS = 'results/runs';

/** The facts that a finished run was made by. */
export interface FinishedRecord {
  /** When the process of the run began, in milliseconds since 1970-01-01 UTC. */
  readonly started: number;
  /** Version of the code that ranks, measures and reports. */
  readonly code: string;
  /** The output of the command. */
  readonly shown: string;
  /** The hash of the config, the data and the backend. */
  readonly hash: string;
  readonly dataHash: string;
  /** The folder of the run, absolute. */
  readonly target: string;
  /** File -> hash of its content; null for the records of arms, whose readers check them. */
  readonly files: Readonly<Record<string, string | null>>;
  /** By which the same command is answered; null where more decides the result than it holds. */
  readonly repetition: Repetition | null;
}

/** The facts, besides the code, that decide the result of a command. */
export interface Repetition {
  readonly command: ReturnType<typeof describeCommand>;
  readonly choice: BackendChoice;
  /** The backend that the choice leads to. */
  readonly backend: BackendName;
  readonly inputs: Inputs;
}

/** The files of a config and of its data, by absolute path, with their states. */
export type Inputs = Readonly<Record<string, string>>;

/** A finished run in the place of the same run. */
export interface FoundRun {
  readonly folder: string;
  /** The output of the command. */
  readonly shown: string;
  /** When its process began. */
  readonly started: Date;
}

/** True if hashes cover all that a config depends on: not a kernel's keys, nor files that tuning chooses. */
export function isHashed({ arms }: ExperimentConfig): boolean {
  for (const { slice, tune } of arms) if (slice || /^embedding\./m.test(Object.keys(tune).join('\n'))) return false;
  return true;
}

/** A command line, and what it depends on wherever its files are. */
export function describeCommand(words: readonly string[]) {
  const { RAGPP_CACHE: cache = null, TZ: zone = null } = process.env;
  return { words, folder: process.cwd(), node: process.version, machine: process.arch, cache, zone };
}

/** Two changes of a file within this time may leave it with one time: FAT keeps times in steps of two seconds. */
const STEP_MILLISECONDS = 2000;

/**
 * The state of a file, which no change of its content leaves as it was: a hash of its number, size, and times. The
 * state of a folder covers all files in it.
 *
 * @returns an empty text for a folder with a link, and for a file that changed less than a step of its clock ago: its
 *   next change may leave the same state.
 */
function describeInput(path: string, readFacts: typeof statSync | typeof lstatSync = statSync): string {
  const facts = readFacts(path, { bigint: true, throwIfNoEntry: false });
  if (facts?.isSymbolicLink() || Number(facts?.ctimeMs) > Date.now() - STEP_MILLISECONDS) return '';
  const names = facts?.isDirectory() ? readdirSync(path) : [];
  const inside = names.map((name) => describeInput(join(path, name), lstatSync));
  const own = names.length > 0 ? names : [facts?.ino, facts?.size, facts?.mtimeNs, facts?.ctimeNs];
  return inside.includes('') ? '' : computeHash([...own, ...inside].join(' '));
}

/** The states of files that are read after this call; null if one of them is unknown. */
export function describeInputs(paths: readonly string[]): Inputs | null {
  const states = paths.map((path) => describeInput(path));
  return states.includes('') ? null : Object.fromEntries(states.map((state, i) => [resolve(paths[i]!), state]));
}

/** A record as the text of {@link FINISHED}: a line, and its hash. */
export function formatFinished(record: FinishedRecord): string {
  const line = JSON.stringify(record);
  return `${line}\n${computeHash(line)}\n`;
}

/** The record of a folder's run; null for an unfinished run, and for one whose record was cut short or altered. */
export function readFinished(folder: string): FinishedRecord | null {
  const path = join(folder, FINISHED);
  const [line = '', hash] = existsSync(path) ? readFileSync(path, 'utf8').split('\n') : [];
  return hash === computeHash(line) ? (JSON.parse(line) as FinishedRecord) : null;
}

/** Code of the report that runs in a browser: no module imports it. */
const CLIENT = 'lab/report/client';

/** True if files were neither written nor replaced since a moment. Tests are no code of a run. */
function isOlder(path: string, moment: number): boolean {
  const facts = statSync(path, { throwIfNoEntry: false });
  if (facts === undefined) return false;
  if (!facts.isDirectory()) return facts.ctimeMs < moment;
  const inside = readdirSync(path).filter((name) => !/\.(test|harness|fixture|oracle|cases)\.ts$/.test(name));
  return inside.every((name) => isOlder(join(path, name), moment));
}

/** The list of what npm has installed: of this package's own folder, or of the one that it is installed in. */
const listInstalled = (): string =>
  [join(PROJECT_ROOT, 'node_modules'), join(PROJECT_ROOT, '..')]
    .map((folder) => join(folder, '.package-lock.json'))
    .find((path) => existsSync(path)) ?? join(PROJECT_ROOT, 'package.json');

/** True if the code of a run is that of today. Its version takes a second, so times of files are looked at first. */
export async function isOfTodaysCode({ started, code }: FinishedRecord): Promise<boolean> {
  if (!isOlder(listInstalled(), started)) return false;
  if (isOlder(findOwnFile(''), started)) return true;
  return isOlder(findOwnFile(CLIENT), started) && code === (await import('../run/environment.ts')).measuringVersion();
}

/** True if every file is there as the run has written it. */
export function isWhole(folder: string, { files }: FinishedRecord): boolean {
  return Object.entries(files).every(([name, hash]) => {
    const path = join(folder, name);
    return existsSync(path) && (hash === null || computeHash(readFileSync(path)) === hash);
  });
}

export function describeFound(folder: string, { shown, started }: FinishedRecord): FoundRun {
  return { folder, shown, started: new Date(started) };
}

/** True if nothing that decides a run has changed since it was made. */
async function isRepeated(folder: string, finished: FinishedRecord, words: readonly string[]): Promise<boolean> {
  const { repetition } = finished;
  if (repetition === null || finished.target !== resolve(folder)) return false;
  const { command, inputs, choice, backend } = repetition;
  if (computeHash(command) !== computeHash(describeCommand(words))) return false;
  if (!Object.entries(inputs).every(([path, state]) => describeInput(path) === state)) return false;
  if (!isWhole(folder, finished) || !(await isOfTodaysCode(finished))) return false;
  return (await import('../../core/tensors/backend.ts')).foreseeBackend(choice) === backend;
}

/** The finished run of a command that was typed before, in the same folder and with nothing changed since; or null. */
export async function findRepeatedRun(words: readonly string[]): Promise<FoundRun | null> {
  const results = words.includes('--results') ? words[words.indexOf('--results') + 1] : RESULTS;
  if (results === undefined || !existsSync(results)) return null;
  try {
    for (const name of readdirSync(results)) {
      const folder = join(results, name);
      const finished = existsSync(join(folder, FINISHED)) ? readFinished(folder) : null;
      if (finished !== null && (await isRepeated(folder, finished, words))) return describeFound(folder, finished);
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error; // the command itself reports what it can't read
  }
  return null;
}
