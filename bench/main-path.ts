import { Session } from 'node:inspector/promises';
import { parseArgs } from 'node:util';
import { useBackend } from '../src/core/tensors/backend.ts';
import { retrieve } from '../src/rank/retrieval/retriever.ts';
import { blend, decay, fuse, type StepInput, search } from '../src/rank/retrieval/steps/functions.ts';
import type { RankOptions } from '../src/rank/retrieval/written-steps.ts';
import { parseSteps } from '../src/rank/retrieval/written-steps.ts';
import { createSampleWorkspace, drawSampleWorld } from '../src/rank/signals/corpus.fixture.ts';
import { formatTextTable } from './text-table.ts';

export const MAIN_PATH_USAGE = `main-path [options]    the files and functions that rank a query, from options to scores
    --list ARM     names those of one arm`;

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

export async function benchMainPath(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({ args: [...args], options: { list: { type: 'string' } } });
  await useBackend('wasm');
  const paths = await tracePaths();
  const rows = [...paths].map(([name, path]) => {
    const own = [...path].filter(([file]) => !file.startsWith('core/'));
    const functions = own.reduce((sum, [, ran]) => sum + ran.length, 0);
    return [name, String(own.length), String(functions), String(path.size - own.length)];
  });
  console.log(formatTextTable(['arm', 'files', 'functions', 'files of core'], rows));
  for (const [file, ran] of paths.get(values.list ?? '') ?? []) console.log(`${file}: ${ran.join(' ')}`);
}
