import { PluginError, ValidationError } from '../../core/errors/errors.ts';
import { createRandom } from '../../core/numbers/random.ts';
import { ensureBackend } from '../../core/tensors/backend.ts';
import { parse, suggestKnown } from '../../core/validation/validation.ts';
import { NewestFirstIndex } from '../../index/candidates/top-selection.ts';
import type { Dataset, Query } from '../../model/dataset.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import { STEPS, type StepKey } from '../../rank/retrieval/steps/keys.ts';
import { EMPTY_OUTLINE, PendingScores, runUnwatched, type Step } from '../../rank/retrieval/steps/step.ts';
import { ADDED_SIGNALS, type AddedSignal } from '../../rank/signals/signal.ts';
import { type CandidatePool, type Column, joinCandidates } from '../../rank/signals/stage.ts';
import { Workspace } from '../../rank/signals/workspace.ts';
import { installPlugin, uninstallPlugin } from '../plugins/install.ts';
import type { PluginDefinition } from '../plugins/plugin.ts';
import { type InstalledPlugin, listInstalledPlugins } from '../plugins/resolved-plugin.ts';

/** What {@link assertSignalContract} tries a signal or a step on: a dataset, the options of the member, and the number of queries. */
export interface SignalContractOptions {
  readonly data: Dataset;
  /** Of the member; by default none. */
  readonly options?: Readonly<Record<string, unknown>>;
  /** How many queries are tried; by default 10. */
  readonly queries?: number;
}

const DIMENSION = 8;
const CANDIDATES = 20;

/** A vector of length 1 that depends on an id alone. */
function drawVector(id: string): number[] {
  const random = createRandom(1, `contract of ${id}`);
  const numbers = Array.from({ length: DIMENSION }, () => random.drawNormal());
  const length = Math.hypot(...numbers);
  return numbers.map((number) => number / length);
}

function openSample(corpus: Corpus, queries: readonly Query[]): Workspace {
  const embed = (ids: readonly { readonly id: string }[]) => Float32Array.from(ids.flatMap(({ id }) => drawVector(id)));
  const vectors = { turnVectors: embed(corpus.turns), queryVectors: embed(queries), dimension: DIMENSION };
  return new Workspace({ corpus, queries, ...vectors, seed: 1 });
}

/** A score of each candidate of a pool. */
type ScorePool = (workspace: Workspace, pool: CandidatePool) => Promise<Column>;

/** The scores that a step gives to candidates that all had 1. */
function applyStep(key: StepKey, given: Readonly<Record<string, unknown>>): ScorePool {
  const options = parse(key.options, given, `the options of step ${key.name}`);
  const [step] = key.create(options as never, EMPTY_OUTLINE) as [Step];
  return async (workspace, pool) => {
    const scores = Float32Array.from(pool.positions, (position) => Number(position >= 0));
    const before = new PendingScores([pool.queryCount, pool.width], scores);
    const state = { workspace, world: workspace.under(null), pool, scores: before, components: new Map() };
    const after = await step.apply(state, EMPTY_OUTLINE, runUnwatched);
    return (after.scores as PendingScores).read(runUnwatched);
  };
}

/** The scores of the newest turns before each query, by turn id. */
async function scoreNewest(
  scorePool: ScorePool,
  corpus: Corpus,
  queries: readonly Query[],
): Promise<Map<string, number>> {
  const workspace = openSample(corpus, queries);
  try {
    const newest = await new NewestFirstIndex(corpus.size).search(workspace.batch, CANDIDATES);
    const rows = joinCandidates([newest], queries.length, workspace.corpus.compareTies, () => true);
    const stage = { name: 'pool', key: 'contract', inputs: [], isKept: false };
    const column = await scorePool(workspace, { ...rows, stage });
    const scores = new Map<string, number>();
    for (const [pair, position] of rows.positions.entries()) {
      const query = queries[Math.floor(pair / rows.width)]?.id;
      if (position >= 0) scores.set(`query ${query}, turn ${corpus.turns[position]?.id}`, column[pair] as number);
    }
    return scores;
  } finally {
    workspace.dispose();
  }
}

/** What no scorer may read, altered. */
function disguise(query: Query): Query {
  const { turnId: _, kind: __, ...rest } = query;
  return { ...rest, cluster: `another ${query.cluster}`, split: query.split === 'dev' ? 'test' : 'dev' };
}

/**
 * Tries a signal or a step of a plugin on data, as those of the project are tested: its scores are finite, 0 where the pool is padded, the same again, the same
 * when turns after the query are left out of the corpus, and the same when the fields of a query that only reports read are altered.
 *
 * @param name of the signal or of the step.
 * @returns how many pairs of query and turn were tried.
 * @throws PluginError that names the member, the rule, the query and the turn; ValidationError for an unknown member and for data without a query.
 */
export async function assertSignalContract(
  plugin: PluginDefinition,
  name: string,
  options: SignalContractOptions,
): Promise<number> {
  await ensureBackend();
  const isKnown = listInstalledPlugins().some((one) => one.plugin === plugin);
  const installed = installPlugin(plugin);
  try {
    return await tryRules(installed, name, options);
  } finally {
    if (!isKnown) uninstallPlugin(plugin.name);
  }
}

/** Applies the rules in the order of their cost. */
async function tryRules(
  plugin: InstalledPlugin,
  name: string,
  { data, options = {}, queries: count = 10 }: SignalContractOptions,
): Promise<number> {
  const { signals, steps } = plugin.members;
  const [signal, step] = [ADDED_SIGNALS.find(name), STEPS.find(name)];
  const member = signals.includes(name) ? 'signal' : steps.includes(name) ? 'step' : null;
  if (member === null) {
    const known = [...signals, ...steps];
    throw new ValidationError(`plugin ${plugin.name} has no signal or step: ${name}; use ${suggestKnown(name, known)}`);
  }
  const scorePool: ScorePool =
    member === 'step'
      ? applyStep(step as StepKey, options)
      : (workspace, pool) => workspace.get((signal as AddedSignal).create(options), pool);
  const { corpus } = data;
  const queries = data.queries.filter(({ timestamp }) => corpus.countEarlierTurns(timestamp) > 0).slice(0, count);
  if (queries.length === 0) throw new ValidationError('data have no query with an earlier turn: 0 found; add one');
  const score = (asked: readonly Query[], within = corpus) => scoreNewest(scorePool, within, asked);
  const scores = await score(queries);
  const assertSame = (again: ReadonlyMap<string, number>, fault: string) => {
    for (const [pair, value] of again)
      if (!Object.is(value, scores.get(pair)))
        throw new PluginError(
          `${plugin.name} ${plugin.version}`,
          `${member} ${name} ${fault}, for ${pair}: ${scores.get(pair)} and ${value}`,
        );
  };
  assertSame(await score(queries), 'differs when it is computed again; remove what is random');
  assertSame(
    await score(queries.map(disguise)),
    'reads turnId, kind, cluster or split of a query, which only reports may; read its text, time, author or channel',
  );
  for (const query of queries) {
    const earlier = new Corpus(corpus.turns.slice(0, corpus.countEarlierTurns(query.timestamp)));
    const { conversationId: asked } = query;
    // A query whose conversation begins later has no candidate.
    if (asked !== undefined && !earlier.turns.some(({ conversationId }) => conversationId === asked)) continue;
    assertSame(
      await score([query], earlier),
      'changes with turns after the query; read the first `cutoff` turns alone',
    );
  }
  return scores.size;
}
