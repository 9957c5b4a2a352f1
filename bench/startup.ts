import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { PROJECT_ROOT } from '../src/core/code/package-root.ts';
import { UnavailableError } from '../src/core/errors/errors.ts';
import { countDoorModules, formatDoorCosts } from './entry-points.ts';
import { parsePositiveOption } from './integer-option.ts';
import { formatTextTable } from './text-table.ts';
import { median } from './timing.ts';

export const STARTUP_USAGE = `startup [options]      the modules behind each entry point, and how long the built package takes to start
    --runs N       processes of each kind (default 15)
    --dist F       the built package (default dist)`;

/** A program that is started, and the time of each start in milliseconds. */
interface StartRow {
  readonly name: string;
  readonly milliseconds: readonly number[];
}

/** What is started, each with the arguments of Node: besides the package itself, the packages that take most of its import. */
function programsIn(dist: string): ReadonlyMap<string, readonly string[]> {
  const main = join(dist, 'cli', 'main.js');
  const index = join(dist, 'index.js');
  const missing = [main, index].find((path) => !existsSync(path));
  if (missing !== undefined)
    throw new UnavailableError('built package', `nothing is at ${missing}; run 'npm run build'`);
  const importing = (specifier: string) => ['--input-type=module', '--eval', `import '${specifier}'`];
  return new Map([
    ['node -e 0', ['--eval', '0']],
    ['ragpp --help', [main, '--help']],
    ["import 'rag-plusplus'", importing(pathToFileURL(index).href)],
    ["import '@tensorflow/tfjs-core'", importing('@tensorflow/tfjs-core')],
    ["import 'zod'", importing('zod')],
  ]);
}

/** @throws UnavailableError for a program that fails. */
function startTime(name: string, options: readonly string[]): number {
  const start = performance.now();
  const { status, stderr } = spawnSync(process.execPath, options, { cwd: PROJECT_ROOT, encoding: 'utf8' });
  const milliseconds = performance.now() - start;
  if (status !== 0) throw new UnavailableError(name, `it ended with ${status}; make it run first: ${stderr.trim()}`);
  return milliseconds;
}

/** Starts each program `runs` times, in turn, so that other work on the machine meets all of them alike. */
export function measureStarts(dist: string, runs: number): StartRow[] {
  const rows = [...programsIn(resolve(dist))].map(([name, options]) => ({
    name,
    options,
    milliseconds: [] as number[],
  }));
  for (let run = 0; run < runs; run++)
    for (const { name, options, milliseconds } of rows) milliseconds.push(startTime(name, options));
  return rows.map(({ name, milliseconds }) => ({ name, milliseconds }));
}

export function formatStarts(rows: readonly StartRow[]): string {
  const lines = rows.map(({ name, milliseconds }) => [
    name,
    median(milliseconds).toFixed(0),
    Math.min(...milliseconds).toFixed(0),
  ]);
  return formatTextTable(['started', 'median ms', 'fastest ms'], lines);
}

export async function benchStartup(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      runs: { type: 'string', default: '15' },
      dist: { type: 'string', default: join(PROJECT_ROOT, 'dist') },
    },
  });
  const runs = parsePositiveOption('runs', values.runs);
  console.log(`${formatDoorCosts(countDoorModules())}\n`);
  const load = loadavg()[0]?.toFixed(1);
  console.log(`node ${process.version}, ${cpus().length} cores, ${cpus()[0]?.model.trim()}, load ${load} at the start`);
  console.log(formatStarts(measureStarts(values.dist, runs)));
}
