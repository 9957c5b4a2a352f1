import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { useBackend } from '../src/core/tensors/backend.ts';
import { retrieve } from '../src/rank/retrieval/retriever.ts';
import { blend, decay, fuse, type StepInput, search } from '../src/rank/retrieval/steps/functions.ts';
import type { RankOptions } from '../src/rank/retrieval/written-steps.ts';
import { parseSteps } from '../src/rank/retrieval/written-steps.ts';
import { createSampleWorkspace, drawSampleWorld } from '../src/rank/signals/corpus.fixture.ts';
import { formatTextTable } from './text-table.ts';

export const MAIN_PATH_USAGE = `main-path [options]    the files and functions that rank a query, and those of a whole experiment
    --list ARM     names the files and functions that rank with one arm
    --files WAY    names the files that a whole experiment loads by: command, code`;

const HYBRID = [search({ bm25: { k: 19 }, hnsw: { k: 13 } }), fuse({ convex: { hnsw: 0.8, bm25: 'rest' } })];

const ARMS: Readonly<Record<string, readonly StepInput[]>> = {
  bm25: [search({ bm25: { k: 23 } })],
  hybrid: HYBRID,
  'hybrid, decay': [...HYBRID, decay(24)],
  'hybrid, rcp': [...HYBRID, blend({ rcp: {} })],
};

/** Functions that ran, by the file of src that holds them. */
type Path = ReadonlyMap<string, readonly string[]>;

/** Ranks the queries of a small corpus, and sees which functions run. */
async function traceArm(session: Session, options: RankOptions): Promise<Path> {
  const workspace = createSampleWorkspace(drawSampleWorld(31, 97, 23, 5));
  await session.post('Profiler.takePreciseCoverage'); // resets the counts
  await retrieve(workspace, options);
  const { result } = await session.post('Profiler.takePreciseCoverage');
  workspace.dispose();
  const path = new Map<string, string[]>();
  for (const { url, functions } of result) {
    const [, file] = /\/src\/(.*\.ts)/.exec(url) ?? [];
    // What starts at 0 is the module itself.
    const ran = functions.filter(({ ranges }) => ranges[0]!.startOffset > 0 && ranges[0]!.count > 0);
    if (file !== undefined && ran.length > 0)
      path.set(
        file,
        ran.map(({ functionName }) => functionName || '(anonymous)'),
      );
  }
  return path;
}

/** The trace of each arm. Modules are loaded before, by a first ranking of each. */
export async function tracePaths(): Promise<ReadonlyMap<string, Path>> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  const paths = new Map<string, Path>();
  for (const [name, written] of [...Object.entries(ARMS), ...Object.entries(ARMS)])
    paths.set(name, await traceArm(session, parseSteps(written)));
  session.disconnect();
  return paths;
}

const root = fileURLToPath(new URL('..', import.meta.url));

/** The ways to run one BM25 arm on a small dataset, from data to report: the words after `node`. */
const WAYS: Readonly<Record<string, (config: string, folder: string) => readonly string[]>> = {
  command: (config, folder) => [
    'src/cli/main.ts',
    'run',
    config,
    '--cache',
    join(folder, 'cache'),
    '--results',
    folder,
  ],
  code: () => [
    '--input-type=module',
    '--eval',
    `const { experiment, search } = await import('./src/index.ts');
    const finished = await experiment({ data: { name: 'jsonl', path: 'examples/data/support-notes' },
      encoder: { encoder: 'lsa', dimension: 4 }, backend: 'cpu', metrics: ['mrr@10'], evaluation: { split: 'all' },
      arms: { words: [search({ bm25: {} })] } }).run();
    console.log(finished.result.arms.length);`,
  ],
};

const CONFIG = `name: words
backend: cpu
dataset: { name: jsonl, path: ${JSON.stringify(join(root, 'examples/data/support-notes'))} }
embedding: { encoder: lsa, dimension: 4 }
evaluation: { split: all, baseline: words, metrics: [mrr@10] }
arms: { words: [search: { bm25: {} }] }
`;

/** A function or a block of one, by offsets in the compiled file. */
interface Range {
  readonly startOffset: number;
  readonly endOffset: number;
  readonly count: number;
}

interface Coverage {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly { readonly functionName: string; readonly ranges: readonly Range[] }[];
  }[];
  readonly 'source-map-cache'?: Readonly<
    Record<string, { readonly data: SourceMapPayload | null; readonly lineLengths: readonly number[] }>
  >;
}

/** What ran of one file of src: functions, by where they begin in the compiled file, and lines. */
interface Ran {
  readonly functions: Set<number>;
  readonly lines: Set<number>;
}

/** The files of src that a whole experiment loads, with what ran of each. */
export type ProgramPath = ReadonlyMap<string, Ran>;

/** Finds the line of the source for an offset of the compiled file. */
function createLineFinder(data: SourceMapPayload, lineLengths: readonly number[]): (offset: number) => number {
  const map = new SourceMap(data);
  return (offset) => {
    let column = offset;
    let line = 0;
    for (; line < lineLengths.length - 1 && column > (lineLengths[line] as number); line++)
      column -= (lineLengths[line] as number) + 1;
    const entry = map.findEntry(line, column);
    return 'originalLine' in entry ? entry.originalLine : 0;
  };
}

/** Lines from the outer ranges to the inner ones: a block that did not run has the lines below its first. */
function listLines(ranges: readonly Range[], findLine: (offset: number) => number): Set<number> {
  const lines = new Set<number>();
  const ordered = [...ranges].sort((a, b) => a.startOffset - b.startOffset || b.endOffset - a.endOffset);
  for (const { startOffset, endOffset, count } of ordered) {
    const [first, last] = [findLine(startOffset), findLine(endOffset)];
    for (let line = count > 0 ? first : first + 1; line <= last; line++)
      if (count > 0) lines.add(line);
      else lines.delete(line);
  }
  return lines;
}

/** Functions that the compiler adds: one to each file, and two to each class, which hold its comments too. */
const COMPILED: readonly string[] = ['__name', '<static_initializer>', '<instance_members_initializer>'];

function addCoverage(path: Map<string, Ran>, { result, 'source-map-cache': maps = {} }: Coverage): void {
  for (const { url, functions } of result) {
    const [, file] = /\/src\/(.*\.ts)/.exec(url) ?? [];
    if (file === undefined || !fileURLToPath(url.replace(/\?.*/, '')).startsWith(join(root, 'src'))) continue;
    const own = functions.filter(
      ({ functionName, ranges }) => ranges[0]!.startOffset > 0 && !COMPILED.includes(functionName),
    );
    const ran = path.get(file) ?? { functions: new Set(), lines: new Set() };
    for (const { ranges } of own) if (ranges[0]!.count > 0) ran.functions.add(ranges[0]!.startOffset);
    const { data = null, lineLengths = [] } = maps[url] ?? {};
    if (data !== null)
      for (const line of listLines(
        own.flatMap(({ ranges }) => ranges),
        createLineFinder(data, lineLengths),
      ))
        ran.lines.add(line);
    path.set(file, ran);
  }
}

/** Runs a whole experiment in processes of its own. @param way one of command, code. */
export function traceProgram(way: string): ProgramPath {
  const folder = mkdtempSync(join(tmpdir(), 'ragpp-main-path-'));
  try {
    const config = join(folder, 'words.yaml');
    writeFileSync(config, CONFIG);
    // The state of a file that has just changed is not looked at further, so what runs would depend on the time.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2100);
    const coverage = join(folder, 'coverage');
    const words = (WAYS[way] as (typeof WAYS)[string])(config, folder);
    const env = { ...process.env, NODE_V8_COVERAGE: coverage };
    const { status, stderr } = spawnSync(process.execPath, ['--import', 'tsx', ...words], {
      cwd: root,
      env,
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(`the experiment ended with ${status}: ${stderr}`);
    const path = new Map<string, Ran>();
    for (const name of readdirSync(coverage))
      addCoverage(path, JSON.parse(readFileSync(join(coverage, name), 'utf8')) as Coverage);
    return path;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Files that are loaded, files of which a function ran, functions and lines that ran. */
export function countProgram(path: ProgramPath) {
  const ran = [...path.values()].filter(({ functions }) => functions.size > 0);
  return {
    loaded: path.size,
    files: ran.length,
    functions: ran.reduce((sum, { functions }) => sum + functions.size, 0),
    lines: ran.reduce((sum, { lines }) => sum + lines.size, 0),
  };
}

export async function benchMainPath(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({ args: [...args], options: { list: { type: 'string' }, files: { type: 'string' } } });
  await useBackend('wasm');
  const paths = await tracePaths();
  const rows = [...paths].map(([name, path]) => {
    const own = [...path].filter(([file]) => !file.startsWith('core/'));
    const functions = own.reduce((sum, [, ran]) => sum + ran.length, 0);
    return [name, String(own.length), String(functions), String(path.size - own.length)];
  });
  console.log(formatTextTable(['arm', 'files', 'functions', 'files of core'], rows));
  for (const [file, ran] of paths.get(values.list ?? '') ?? []) console.log(`${file}: ${ran.join(' ')}`);
  const programs = Object.keys(WAYS).map((way) => [way, traceProgram(way)] as const);
  const counts = programs.map(([way, path]) => [way, ...Object.values(countProgram(path)).map(String)]);
  console.log(formatTextTable(['one BM25 arm by', 'files loaded', 'files that ran', 'functions', 'lines'], counts));
  for (const [way, path] of programs)
    if (way === values.files)
      for (const [file, { functions, lines }] of path) console.log(`${file}: ${functions.size} ${lines.size}`);
}
