import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { RagPlusPlusError } from '../src/core/errors/errors.ts';
import { readFolder, readText, writeAtomic } from '../src/core/files/files.ts';
import { readSafetensors } from '../src/core/files/safetensors.ts';
import { describeCommit, PROJECT_ROOT } from '../src/lab/run/environment.ts';
import { parsePositiveOption } from './integer-option.ts';

export const PUBLISHED_USAGE = `published [folder…]    makes published results again by their commands, and compares every figure
    --results F        where the published folders are (default results)
    --made F           where they are made; what is there already is only compared (default .ragpp/published/<commit>)
    --limit-minutes N  stops making results after N minutes; the cheapest are first (default 60)`;

/**
 * Keys in which equal results may differ: hashes, which look at a test split a run was, the commit and config of
 * weights, time and memory.
 */
const PROVENANCE = /hash|sha256$|^looks?$|^touches$|^provenance$|seconds?$|^bytes$/i;
const COMPARED = /(?<!^environment)\.json$|\.(?:csv|safetensors)$/;
/** A file or folder of data in the options of a command. */
const DATA = /(?:path=|path: |model: |locomo=)([^\s,}'\]]+)/g;
/** A run that a command reads. */
const RUN = /results\/runs\/([\w-]+)-[0-9a-f]{12}/g;

interface Published {
  readonly name: string;
  readonly folder: string;
  readonly command: string;
  /** The time that it took, 0 if unknown. */
  readonly seconds: number;
}
type Outcome = { readonly kind: 'same' | 'differs' | 'skipped'; readonly text: string };

const skip = (reason: string): Outcome => ({ kind: 'skipped', text: `skipped: ${reason}` });

/** The tuned values alone: their paths follow the names of options. */
const listValues = (tuned: unknown) => Object.values(tuned ?? {});

function addFigures(value: unknown, path: string, figures: Map<string, string>): void {
  if (typeof value !== 'object' || value === null) figures.set(path, JSON.stringify(value));
  else
    for (const [key, inner] of Object.entries(value))
      if (!PROVENANCE.test(key)) addFigures(key === 'tuned' ? listValues(inner) : inner, `${path} ${key}`, figures);
}

function readData(path: string): unknown {
  if (path.endsWith('.json')) return JSON.parse(readText(path));
  if (path.endsWith('.csv')) return readText(path).trimEnd().split('\n');
  const { tensors, metadata } = readSafetensors(path, 'publish the weights again');
  return { tensors, weights: JSON.parse(metadata.weights ?? '{}') };
}

/** Every number and text of the figures and weights in a folder, by its path. */
function readFigures(folder: string): ReadonlyMap<string, string> {
  const figures = new Map<string, string>();
  for (const file of readFolder(folder).filter((name) => COMPARED.test(name)))
    addFigures(readData(join(folder, file)), file, figures);
  return figures;
}

/**
 * Published figures that are missing or other in what was made: `same`, or the number and the first of the differences,
 * which `list` has.
 */
function compareResults(published: string, made: string, list: string): Outcome {
  const now = readFigures(made);
  const figures = readFigures(published);
  const lines = [...figures]
    .filter(([path, value]) => now.get(path) !== value)
    .map(([path, value]) => `${path}: ${value}, made now: ${now.get(path) ?? 'missing'}`);
  writeAtomic(list, lines.map((line) => `${line}\n`).join(''));
  return lines.length === 0
    ? { kind: 'same', text: `same (${figures.size} figures)` }
    : { kind: 'differs', text: `${lines.length} of ${figures.size} figures differ: ${lines[0]}` };
}

function readPublished(results: string, name: string): Published {
  const folder = join(results, name);
  const { command, timings = [] } = JSON.parse(readText(join(folder, 'environment.json'))) as {
    command: string;
    timings?: { readonly seconds: number }[];
  };
  return { name, folder, command, seconds: timings.reduce((sum, { seconds }) => sum + seconds, 0) };
}

/** The arguments of Node that run a recorded command: those of studies are recorded without quotes. */
function readCommand(command: string): string[] {
  const [program = '', ...options] = command
    .replace(/^npm run experiment -- /, 'experiments/main.ts ')
    .replace(/^ragpp train /, 'src/cli/main.ts run ') // fits had a command of their own
    .replace(/^ragpp /, 'src/cli/main.ts ')
    .split(/ (?=--)/);
  const words = options.flatMap((option) => {
    const [flag = '', ...value] = option.split(' ');
    const text = value.join(' ');
    return text === '' ? [flag] : [flag, text.replace(/^'(.*)'$/s, '$1').replaceAll("'\\''", "'")];
  });
  return ['--import', 'tsx', ...program.split(' '), ...words];
}

/** The run folder of a result that was made; undefined before that. */
function findMade(made: string, name: string): string | undefined {
  const folder = join(made, name);
  const runs = existsSync(folder) ? readFolder(folder).map((run) => join(folder, run)) : [];
  return runs.find((run) => existsSync(join(run, 'table.md')));
}

/** @returns undefined, or why it could not be done. */
function runProgram(args: readonly string[], made: string, name: string, until: number): Outcome | undefined {
  const log = join(made, `${name}.log`);
  const file = openSync(log, 'w');
  // A cache of its own: a stage that other code left under the same key would hide a change.
  const env = { ...process.env, RAGPP_CACHE: join(made, 'cache') };
  const timeout = Math.max(1, until - Date.now());
  const { status, error } = spawnSync(process.execPath, args, {
    cwd: PROJECT_ROOT,
    env,
    timeout,
    stdio: ['ignore', file, file],
  });
  closeSync(file);
  if (status === 0) return undefined;
  if (error !== undefined && 'code' in error && error.code === 'ETIMEDOUT')
    return skip('not made within --limit-minutes');
  const text = readText(log);
  const reason = (/\[[A-Z_]+\]: .*$/s.exec(text)?.[0] ?? text).trim().replace(/\s*\n\s*/g, ' ');
  if (/^\[UNAVAILABLE\]|ENOENT/.test(reason)) return skip(reason);
  return { kind: 'differs', text: `failed with exit code ${status}: ${reason}` };
}

/** Runs the command of a result with the runs that were made for those that the command names. */
function runCommand({ name, command }: Published, made: string, until: number): Outcome | undefined {
  const missing = [...command.matchAll(DATA)].find(([, path = '']) => !existsSync(join(PROJECT_ROOT, path)));
  if (missing !== undefined) return skip(`no data at ${missing[1]}`);
  const needed = [...command.matchAll(RUN)].find(([, run = '']) => findMade(made, run) === undefined);
  if (needed !== undefined) return skip(`needs ${needed[1]}; make it first`);
  if (Date.now() > until) return skip('not made within --limit-minutes');
  const own = command.replace(RUN, (_, run: string) => findMade(made, run) as string);
  return runProgram([...readCommand(own), '--results', join(made, name)], made, name, until);
}

/** Makes a result, with the weights of a training measured on the test split where those of the published one were. */
function make(published: Published, made: string, until: number): Outcome | undefined {
  const { name, folder } = published;
  const failed = findMade(made, name) === undefined ? runCommand(published, made, until) : undefined;
  if (failed !== undefined) return failed;
  const run = findMade(made, name) as string;
  if (existsSync(join(run, 'test.json')) || !existsSync(join(folder, 'test.json'))) return undefined;
  return runProgram(readCommand(`ragpp test-weights ${run} --again`), made, name, until);
}

function compareFolder(published: Published, made: string, until: number): Outcome {
  const failed = make(published, made, until);
  if (failed !== undefined) return failed;
  const { name, folder } = published;
  return compareResults(folder, findMade(made, name) as string, join(made, `${name}.differences`));
}

/** A line for each folder, and their number. @throws RagPlusPlusError if one differs. */
export async function benchPublished(args: readonly string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      results: { type: 'string', default: join(PROJECT_ROOT, 'results') },
      made: { type: 'string', default: join(PROJECT_ROOT, '.ragpp', 'published', describeCommit()) },
      'limit-minutes': { type: 'string', default: '60' },
    },
  });
  const until = Date.now() + parsePositiveOption('limit-minutes', values['limit-minutes']) * 60_000;
  const made = resolve(values.made);
  mkdirSync(made, { recursive: true });
  const all = readFolder(values.results).filter((name) => existsSync(join(values.results, name, 'environment.json')));
  const names = positionals.length > 0 ? positionals : all;
  const folders = names.map((name) => readPublished(values.results, name));
  folders.sort(
    (a, b) => Number(a.command.search(RUN) >= 0) - Number(b.command.search(RUN) >= 0) || a.seconds - b.seconds,
  );
  const width = Math.max(...names.map((name) => name.length));
  const counts = { same: 0, differs: 0, skipped: 0 };
  for (const folder of folders) {
    const { kind, text } = compareFolder(folder, made, until);
    counts[kind]++;
    console.log(`${folder.name.padEnd(width)}  ${text}`);
  }
  console.log(
    `${folders.length} results: ${counts.same} same, ${counts.differs} differ, ${counts.skipped} skipped; made in ${made}`,
  );
  if (counts.differs > 0)
    throw new RagPlusPlusError('RESULTS_DIFFER', `results that differ: ${counts.differs}; read ${made}/*.differences`);
}
