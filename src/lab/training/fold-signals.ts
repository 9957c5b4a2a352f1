import { computeHash } from '../../core/hash/hash.ts';
import { ignoreProgress } from '../../core/terminal/progress.ts';
import type { Dataset, Query } from '../../model/dataset.ts';
import type { Dimensions } from '../../ops/trajectory/coordinate-names.ts';
import { type FeatureSource, type FeatureTable, selectQueries } from '../../rank/learning/feature-table.ts';
import type { FitOptions } from '../../rank/learning/fit-options.ts';
import { listModelSignals } from '../../rank/learning/model.ts';
import { findPool, poolRows } from '../../rank/retrieval/candidate-sources.ts';
import { listCosineNames } from '../../rank/signals/bank/options.ts';
import { computeRefittedSignals, listEncoderSignals } from '../../rank/signals/bank/refitted-signals.ts';
import { type SignalTable, signalTable } from '../../rank/signals/bank/signal-bank.ts';
import { MEMORY_SIGNALS } from '../../rank/signals/memory-signals.ts';
import { Plan, type WorkspaceIdentity } from '../../rank/signals/plan.ts';
import { type CandidatePool, type PoolRows, type Stage, StageResults } from '../../rank/signals/stage.ts';
import { listStrategySignals } from '../../rank/signals/strategy.ts';
import type { Workspace } from '../../rank/signals/workspace.ts';
import { readPoolParts } from '../config/fitted-arm.ts';
import { listUnheldConversations } from '../measure/passport.ts';
import { learningVersion } from '../run/environment.ts';
import { buildWorkspaceIdentity, openWorkspace, type WorkspaceSource } from '../run/workspaces.ts';
import type { TrainingConfig } from './training-config.ts';
import { RELEVANCE_SIGNALS, VECTOR_INPUTS, withTrajectorySignals } from './trajectory-features.ts';

/** The columns of a table with the five signals of memories, in their order. */
export const USER_SIGNALS: readonly string[] = MEMORY_SIGNALS.map((name) => listStrategySignals()[name].name);

/** The signals that some part of a fit reads, in the order of `all`. */
function listReadSignals({ model, users }: FitOptions, all: readonly string[]): readonly string[] {
  const read = new Set([...listModelSignals(model, all), ...(users === undefined ? [] : USER_SIGNALS)]);
  return all.filter((name) => read.has(name));
}

/** The candidates of a fitted arm. */
export function findCandidatePool(workspace: Workspace, { arm }: TrainingConfig): Promise<CandidatePool> {
  return findPool(workspace, null, readPoolParts(arm));
}

/** The dimensions of the coordinates that the model of a fit reads, null if it reads none. */
function readTrajectoryDimensions({ fit: { model } }: TrainingConfig): Dimensions | null {
  return model.name === 'trajectory' ? model.dimensions : null;
}

/** Every signal that the model of a fit may read. */
export async function computeTaskSignals(
  workspace: Workspace,
  pool: CandidatePool,
  config: TrainingConfig,
): Promise<SignalTable> {
  const bank = await workspace.get(signalTable(config.signals), pool);
  const dimensions = readTrajectoryDimensions(config);
  return dimensions === null ? bank : withTrajectorySignals(workspace, pool, bank, dimensions);
}

/** Judgements of a pool's candidates, and of the turns that it misses. */
function judgeCandidates(dataset: Dataset, queries: readonly Query[], pool: CandidatePool) {
  const { corpus, qrels } = dataset;
  const mask = Uint8Array.from(pool.positions, (position) => (position < 0 ? 0 : 1));
  const grades = new Float32Array(pool.positions.length);
  const missed = new Int32Array(queries.length);
  const missedGrades: number[] = [];
  for (const [row, { id }] of queries.entries()) {
    const slots = new Map<number, number>();
    for (let pair = row * pool.width; pair < (row + 1) * pool.width; pair++)
      slots.set(pool.positions[pair] as number, pair);
    for (const [turnId, grade] of qrels.get(id) ?? []) {
      if (grade <= 0) continue;
      const pair = slots.get(corpus.getPosition(turnId));
      if (pair !== undefined) grades[pair] = grade;
      else {
        missed[row]! += 1;
        missedGrades.push(grade);
      }
    }
  }
  return { mask, grades, missed, missedGrades: Float32Array.from(missedGrades) };
}

/** A table of signals with the judgements of a dataset, for models to be trained on. */
export function buildFeatureTable(
  dataset: Dataset,
  queries: readonly Query[],
  pool: CandidatePool,
  { signals, values }: SignalTable,
): FeatureTable {
  return {
    signals,
    queryIds: queries.map(({ id }) => id),
    clusters: queries.map(({ cluster }) => cluster),
    width: pool.width,
    values,
    ...judgeCandidates(dataset, queries, pool),
    relevantGrade: dataset.relevantGrade,
  };
}

/** Rows with their judgements and without signals, and the corpus positions of their candidates. */
export interface JudgedRows {
  readonly table: FeatureTable;
  readonly pool: PoolRows;
}

/** The values that the rows of all folds share. */
interface FoldBasis {
  readonly source: WorkspaceSource;
  readonly config: TrainingConfig;
  readonly queries: readonly Query[];
  /** With encoders fitted on all dev conversations. */
  readonly workspace: Workspace;
  readonly pool: CandidatePool;
  readonly table: FeatureTable;
}

/** The candidates of all queries while some clusters are held out. */
interface FoldRows {
  readonly pool: PoolRows;
  /** Without signals if only the judgements are needed. */
  readonly table: FeatureTable;
  /** Signals that replace those of the table. */
  signals(): Promise<SignalTable>;
}

const NOTHING: SignalTable = { signals: [], values: new Float32Array() };

function selectPoolRows({ width, positions }: PoolRows, rows: Int32Array): PoolRows {
  const chosen = new Int32Array(rows.length * width);
  for (const [i, row] of rows.entries()) chosen.set(positions.subarray(row * width, (row + 1) * width), i * width);
  return { queryCount: rows.length, width, positions: chosen };
}

/**
 * Rows of a table with some of its signals.
 *
 * @param names the signals of the result
 * @param own signals of all rows of the table, which replace the table's
 */
function selectChosenRows(
  table: FeatureTable,
  rows: Int32Array,
  names: readonly string[],
  own: SignalTable,
): FeatureTable {
  const judged = selectQueries({ ...table, ...NOTHING }, rows);
  const values = new Float32Array(rows.length * table.width * names.length);
  const copy = (from: SignalTable) => {
    const columns = names.flatMap((name, to) => {
      const column = from.signals.indexOf(name);
      return column === -1 ? [] : [{ column, to }];
    });
    const stride = from.signals.length;
    for (const [i, row] of rows.entries()) {
      for (let slot = 0; slot < table.width; slot++) {
        const there = (row * table.width + slot) * stride;
        const here = (i * table.width + slot) * names.length;
        for (const { column, to } of columns) values[here + to] = from.values[there + column] as number;
      }
    }
  };
  copy(table);
  copy(own);
  return { ...judged, signals: names, values };
}

function pickSignals({ signals, values }: SignalTable, names: readonly string[]): SignalTable {
  const from = names.map((name) => signals.indexOf(name));
  const result = new Float32Array((values.length / signals.length) * names.length);
  for (let at = 0, pair = 0; at < result.length; pair += signals.length)
    for (const column of from) result[at++] = values[pair + column] as number;
  return { signals: names, values: result };
}

/**
 * The rows of each fold with the signals that its models read, by encoders that are fitted on no conversation which the fold holds out. Only columns that depend
 * on such an encoder are computed for a fold; they are a stage of the cache. The last requested fold stays in memory.
 */
export class FoldSignals implements FeatureSource {
  readonly clusters: readonly string[];
  readonly #basis: FoldBasis;
  readonly #read: readonly string[];
  #last: { readonly key: string; readonly rows: Promise<FoldRows> } | null = null;

  constructor(basis: FoldBasis) {
    this.clusters = basis.table.clusters;
    this.#basis = basis;
    this.#read = listReadSignals(basis.config.fit, basis.table.signals);
  }

  async gatherRowsFor(rows: Int32Array, heldOut: readonly string[]): Promise<FeatureTable> {
    const { table, signals } = await this.#getFold(heldOut);
    return selectChosenRows(table, rows, this.#read, await signals());
  }

  async judgeRowsFor(rows: Int32Array, heldOut: readonly string[]): Promise<JudgedRows> {
    const { table, pool } = await this.#getFold(heldOut);
    const judged = selectQueries({ ...table, ...NOTHING }, rows);
    return { table: judged, pool: selectPoolRows(pool, rows) };
  }

  #getFold(heldOut: readonly string[]): Promise<FoldRows> {
    const key = computeHash([...heldOut].sort());
    if (this.#last?.key === key) return this.#last.rows;
    const rows = this.#computeFoldWithout(heldOut);
    this.#last = { key, rows };
    return rows;
  }

  async #computeFoldWithout(heldOut: readonly string[]): Promise<FoldRows> {
    const { source, config, queries, workspace, pool, table } = this.#basis;
    const all: FoldRows = { pool, table, signals: async () => NOTHING };
    if (heldOut.length === 0 || source.fittedOn !== undefined) return all;
    const fit = listUnheldConversations(source.dataset, heldOut);
    const identity = buildWorkspaceIdentity(source, fit);
    const roots = { identity, corpus: workspace.corpus, queries, seed: config.seed };
    const plan = new Plan(roots);
    const ownPool = plan.stage(poolRows(readPoolParts(config.arm)));
    if (ownPool.key !== pool.stage.key) return this.#findFoldCandidates(fit);
    if (plan.stage(signalTable(config.signals), ownPool).key === this.#signals().key) return all;
    let signals: Promise<SignalTable> | null = null;
    const computeSignalsOnce = () => {
      signals ??= this.#getKeptSignals(fit, identity);
      return signals;
    };
    return { pool, table, signals: computeSignalsOnce };
  }

  /** The stage of the whole table. */
  #signals(): Stage {
    const { config, workspace, pool } = this.#basis;
    return workspace.plan.stage(signalTable(config.signals), pool.stage);
  }

  /** If a fitted encoder finds the candidates, a fold has its own. */
  async #findFoldCandidates(fit: ReadonlySet<string>): Promise<FoldRows> {
    const { source, config, queries } = this.#basis;
    const workspace = await openWorkspace({ ...source, progress: ignoreProgress }, queries, fit);
    try {
      const pool = await findCandidatePool(workspace, config);
      const signals = await computeTaskSignals(workspace, pool, config);
      const table = buildFeatureTable(source.dataset, queries, pool, signals);
      return { pool, table, signals: async () => NOTHING };
    } finally {
      workspace.dispose();
    }
  }

  /** The cosines whose encoders are other ones than those fitted on all dev conversations. */
  #listFittedCosines(identity: WorkspaceIdentity): string[] {
    const { source, config } = this.#basis;
    const all = buildWorkspaceIdentity(source, source.dataset.devConversations);
    const own = computeHash(all.encoder) === computeHash(identity.encoder) ? [] : ['cosine'];
    const others = config.signals.encoders.flatMap((options, i) => {
      const [here, there] = [all, identity].map(({ encoderOf }) => computeHash(encoderOf?.(options)));
      return here === there ? [] : [listCosineNames(config.signals)[i + 1] as string];
    });
    return [...own, ...others];
  }

  /** The signals that a fold has to compute: of those that a model reads. */
  #listNeededSignals(cosines: readonly string[]): string[] {
    const { config } = this.#basis;
    const inputs = cosines.includes('cosine') && readTrajectoryDimensions(config) !== null ? VECTOR_INPUTS : [];
    return [...listEncoderSignals(config.signals, cosines), ...inputs].filter((name) => this.#read.includes(name));
  }

  async #getKeptSignals(fit: ReadonlySet<string>, identity: WorkspaceIdentity): Promise<SignalTable> {
    const { source, workspace, config } = this.#basis;
    const cosines = this.#listFittedCosines(identity);
    const needed = this.#listNeededSignals(cosines);
    if (needed.length === 0) return NOTHING;
    const options = [learningVersion(), needed, readTrajectoryDimensions(config), [...fit].sort()];
    const stage = workspace.plan.derived('fold-signals', options, [this.#signals()]);
    const { values } = await new StageResults(source.store).run(stage, async () => ({
      values: (await this.#computeFoldSignals(fit, cosines, needed)).values,
    }));
    return { signals: needed, values };
  }

  async #computeFoldSignals(
    fit: ReadonlySet<string>,
    cosines: readonly string[],
    needed: readonly string[],
  ): Promise<SignalTable> {
    const { source, config, queries, pool, table } = this.#basis;
    const { store } = source;
    // What does not depend on the encoder is read from the cache; the rest is of no use to anyone else.
    const reading = { ...source, progress: ignoreProgress, store: { read: store.read.bind(store), write() {} } };
    const workspace = await openWorkspace(reading, queries, fit);
    try {
      const dimensions = readTrajectoryDimensions(config);
      const hasInputs = needed.some((name) => VECTOR_INPUTS.includes(name));
      const wanted = hasInputs ? [...new Set([...needed, ...RELEVANCE_SIGNALS])] : needed;
      const ofBank = wanted.filter((name) => !VECTOR_INPUTS.includes(name));
      const refit = { cosines, wanted: ofBank, base: table };
      const bank = await computeRefittedSignals(workspace, pool, config.signals, refit);
      const all =
        hasInputs && dimensions !== null ? await withTrajectorySignals(workspace, pool, bank, dimensions) : bank;
      return pickSignals(all, needed);
    } finally {
      workspace.dispose();
    }
  }
}
