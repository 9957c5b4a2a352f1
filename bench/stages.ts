import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { BACKENDS, type BackendChoice, useBackend } from '../src/core/tensors/backend.ts';
import { loadDataset } from '../src/data/registry.ts';
import { NewestFirstIndex } from '../src/index/candidates/top-selection.ts';
import type { IndexOptions } from '../src/index/registry.ts';
import { type ExperimentConfig, resolveConfig } from '../src/lab/config/config.ts';
import { stageVersion } from '../src/lab/run/environment.ts';
import { StageCache } from '../src/lab/run/stage-cache.ts';
import { openWorkspace, selectEvaluatedQueries } from '../src/lab/run/workspaces.ts';
import { candidatesFrom } from '../src/rank/retrieval/candidate-sources.ts';
import { retrieve } from '../src/rank/retrieval/retriever.ts';
import { blend, decay, fuse, propagate, search } from '../src/rank/retrieval/steps/functions.ts';
import { readArm } from '../src/rank/retrieval/written-steps.ts';
import type { Artifact, Stage, StageStore } from '../src/rank/signals/stage.ts';
import type { Workspace } from '../src/rank/signals/workspace.ts';
import { formatTextTable } from './text-table.ts';
import { median, readProcessorSeconds } from './timing.ts';

export const STAGES_USAGE = `stages [options]       what each stage costs to compute on the mail threads, and to read from the cache
    --cache F      where the dataset and the embeddings are kept (default .ragpp/cache)
    --backend B    auto, ${BACKENDS.join(', ')} (default auto)`;

const REPEATS = 5;

/** The cost of a stage in seconds of the processor, which other work on the machine does not lengthen much. */
interface StageCost {
  readonly stage: Stage;
  /** Without its inputs. */
  readonly compute: number;
  readonly write: number;
}

interface StageRow extends Omit<StageCost, 'stage'> {
  readonly name: string;
  readonly isKept: boolean;
  readonly bytes: number;
  readonly read: number;
}

/** Holds nothing, keeps everything, and notes how long each stage was under way. */
export class TimingStore implements StageStore {
  readonly costs: StageCost[] = [];
  readonly #inner: StageStore;
  readonly #clock: () => number;
  /** Stages under way, the innermost last: when each began, and the time that its inputs took. */
  readonly #open: { start: number; inputs: number }[] = [];

  constructor(inner: StageStore, clock: () => number = readProcessorSeconds) {
    this.#inner = inner;
    this.#clock = clock;
  }

  read(): null {
    this.#open.push({ start: this.#clock(), inputs: 0 });
    return null;
  }

  write(stage: Stage, artifact: Artifact): void {
    const { start, inputs } = this.#open.pop()!;
    const computed = this.#clock();
    this.#inner.write(stage, artifact);
    const written = this.#clock();
    this.costs.push({ stage, compute: computed - start - inputs, write: written - computed });
    // Also the writing, which is not work of the requesting stage.
    const outer = this.#open.at(-1);
    if (outer !== undefined) outer.inputs += written - start;
  }
}

function buildStagesConfig(backend: string): ExperimentConfig {
  const ranked = (dense: 'hnsw' | 'flat') => [
    search({ bm25: {}, [dense]: {}, newest: {} }),
    fuse({ convex: { [dense]: 0.8, bm25: 'rest' } }),
    decay(24),
  ];
  return resolveConfig(
    {
      name: 'stages',
      backend,
      dataset: { name: 'spamassassin-threads' },
      embedding: { encoder: 'lsa' },
      evaluation: { baseline: 'unified' },
      arms: {
        unified: [...ranked('hnsw'), blend({ trajectory: {}, unified: {} })],
        propagation: [propagate('framework'), ...ranked('flat'), blend({ trajectory: {} })],
      },
    },
    'bench stages',
  );
}

/** The median time of several runs: the first ones also compile. */
async function measureMedianSeconds(run: () => Promise<unknown>): Promise<number> {
  const seconds: number[] = [];
  for (let i = 0; i < REPEATS; i++) {
    const started = readProcessorSeconds();
    await run();
    seconds.push(readProcessorSeconds() - started);
  }
  return median(seconds);
}

/** Times the source that is never kept, and keeps it all the same, to have something to read. */
async function timeUnkept(
  { corpus, batch, plan }: Workspace,
  { k }: IndexOptions,
  store: StageStore,
): Promise<StageCost> {
  const index = new NewestFirstIndex(corpus.size);
  const compute = await measureMedianSeconds(() => index.search(batch, k));
  const stage = plan.stage(candidatesFrom({ index: 'newest', k }, null));
  const started = readProcessorSeconds();
  store.write(stage, { ...(await index.search(batch, k)) });
  return { stage, compute, write: readProcessorSeconds() - started - compute };
}

/** A row for each stage, those first that are kept with the least reason. */
export function formatStages(rows: readonly StageRow[]): string {
  const header = ['stage', 'MiB', 'compute ms', 'write ms', 'read ms', 'compute / read', ''];
  const sorted = rows.toSorted((a, b) => a.compute / a.read - b.compute / b.read);
  const lines = sorted.map(({ name, isKept, bytes, compute, write, read }) => [
    name,
    (bytes / 2 ** 20).toFixed(2),
    ...[compute, write, read].map((seconds) => (1000 * seconds).toFixed(1)),
    `${(compute / read).toFixed(1)}x`,
    isKept ? '' : 'memory only',
  ]);
  return formatTextTable(header, lines);
}

/** Prints the table of the bench. */
export async function benchStages(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { cache: { type: 'string', default: '.ragpp/cache' }, backend: { type: 'string', default: 'auto' } },
  });
  const backend = await useBackend(values.backend as BackendChoice);
  const wanted = buildStagesConfig(backend);
  const dataset = await loadDataset(wanted.dataset, { cacheFolder: join(values.cache, 'datasets') });
  const folder = mkdtempSync(join(tmpdir(), 'ragpp-bench-stages-'));
  try {
    const kept = new StageCache(folder);
    const store = new TimingStore(kept);
    const source = { dataset, config: wanted, cacheFolder: values.cache, store, code: stageVersion };
    const workspace = await openWorkspace(source, selectEvaluatedQueries(dataset, wanted), dataset.devConversations);
    const newest = readArm(wanted.arms[0]!).outline.sources.find(({ name }) => name === 'newest')!.index;
    const unkept = await timeUnkept(workspace, newest, kept);
    for (const arm of wanted.arms) await retrieve(workspace, arm);
    workspace.dispose();
    const rows: StageRow[] = [];
    for (const { stage, compute, write } of [unkept, ...store.costs]) {
      const read = await measureMedianSeconds(async () => kept.read(stage));
      rows.push({
        name: stage.name,
        isKept: stage.isKept,
        bytes: statSync(kept.joinStagePath(stage)).size,
        compute,
        write,
        read,
      });
    }
    console.log(`machine: ${cpus()[0]?.model ?? 'unknown'}; node ${process.version}; backend ${backend}`);
    console.log(
      `data: ${dataset.corpus.size} turns, ${workspace.queries.length} queries; seconds of the processor, median of ${REPEATS} readings\n`,
    );
    console.log(formatStages(rows));
  } finally {
    rmSync(folder, { recursive: true });
  }
}
