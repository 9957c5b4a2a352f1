import type { PropagationOptions } from '../attention/options.ts';
import type { PropagatedVersions } from '../attention/versioned-propagation.ts';
import { assertAdmissible } from '../candidates/query-batch.ts';
import { INDEXES, type IndexOptions, listIndexReads } from '../candidates/registry.ts';
import { hashRunFile } from '../candidates/run-options.ts';
import type { CandidateIndex, Candidates, QueryBatch } from '../model/candidates.ts';
import { prepareSignals } from '../signals/bank/signal-bank.ts';
import { type CandidatePool, joinCandidates, type PoolRows } from '../signals/candidate-pool.ts';
import { propagatedRows } from '../signals/propagated.ts';
import { defineStage, type StageUse, type World } from '../signals/signal.ts';
import { buildWarmUpBatch, createSubcorpusIndex } from '../signals/subcorpus.ts';
import type { Workspace } from '../signals/workspace.ts';
import { createPoolFilter, listVisibleTurns, SAME_CHANNEL } from './query-filter.ts';
import type { RetrieverOptions } from './retriever-options.ts';
import { findSourceFilter } from './retriever-options.ts';

/** Runs each part of a retrieval and observes it, for example its time. Parts may be nested. */
export type Watch = <T>(part: string, work: () => Promise<T> | T) => Promise<T>;

export const runUnwatched: Watch = async (_, work) => work();

/** A source of candidates: an index, and what the turns' vectors are mixed with before a search. */
export interface SourceUse {
  readonly index: IndexOptions;
  /** Of `flat` alone: the other indexes do not know propagated rows. */
  readonly propagation: PropagationOptions | null;
  /** The text of a filter that is applied before the search; null: every earlier turn is visible. */
  readonly filter: string | null;
}

function describeSource(index: IndexOptions, propagation: PropagationOptions | null, filter: string | null): SourceUse {
  return { index, propagation: index.index === 'flat' ? propagation : null, filter };
}

/** The filters that an arm applies to what its sources found. */
function listPoolFilters({ filter, sameChannel }: Pick<RetrieverOptions, 'filter' | 'sameChannel'>): string[] {
  return [...(sameChannel ? [SAME_CHANNEL] : []), ...(filter?.apply === 'after' ? [filter.where] : [])];
}

/** The key of an index's result; the results without a filter keep the key that they had before there were filters. */
function describeIndex({ index }: SourceUse, seed: number): unknown {
  if (index.index === 'run') return { index: 'run', k: index.k, content: hashRunFile(index) };
  const { version } = INDEXES.get(index.index);
  if (version !== undefined) return [index, seed, version];
  return index.index === 'hnsw' ? [index, seed] : index;
}

function openIndex(world: World, { index }: SourceUse, rows: PropagatedVersions | null): Promise<CandidateIndex> {
  const { turnVectors: vectors, dimension, seed } = world;
  return createSubcorpusIndex(index, world.subcorpora, { vectors, dimension, seed }, rows);
}

/** An index that is kept until the workspace is disposed, as one that is asked time and again. */
function keepIndex({ shared }: World, use: SourceUse): Promise<CandidateIndex> {
  // Only another order of turns changes propagated rows, and those alone change an index.
  const order = use.propagation !== null && shared.control?.kind === 'permuted-order' ? shared.control : null;
  return shared.keepOnce(['index', { index: use.index, propagation: use.propagation }, order], async () => {
    const rows = use.propagation === null ? null : await shared.get(propagatedRows(use.propagation));
    return shared.keepResource(await openIndex(shared, use, rows));
  });
}

/** The queries with the turns that a filter accepts for each; the sources of an arm share the lists. */
async function buildFilteredBatch(world: World, { filter }: SourceUse): Promise<QueryBatch> {
  if (filter === null) return world.batch;
  const visible = await world.keepOnce(['visible', filter], () => listVisibleTurns(filter, world));
  return { ...world.batch, visible };
}

/** How many candidates a query can have: the turns that exist before the last one. */
function countMostFound({ batch }: World): number {
  return batch.cutoffs.reduce((most, cutoff) => Math.max(most, cutoff), 1);
}

/** What one source finds for every query, each turn strictly earlier than the query. */
const defineSource = (isKept: boolean) =>
  defineStage<SourceUse, Candidates, { rows?: StageUse<PropagatedVersions> }>({
    name: ({ index: { index } }) => `candidates-${index}`,
    module: import.meta.url,
    of: 'queries',
    isKept,
    reads: ({ index, propagation }) => [
      ...listIndexReads(index),
      ...(propagation === null ? [] : (['order'] as const)),
    ],
    key: (use, { seed }) => {
      const key = describeIndex(use, seed);
      return use.filter === null ? key : { of: key, filter: use.filter };
    },
    inputs: ({ propagation }) => (propagation === null ? {} : { rows: propagatedRows(propagation) }),
    compute: async ({ world, inputs }, use) => {
      const isSubset = world.shared.queries !== world.queries;
      const rows = (inputs.rows as PropagatedVersions | undefined) ?? null;
      const index = isSubset ? await keepIndex(world, use) : await openIndex(world, use, rows);
      try {
        const k = Math.min(use.index.k, countMostFound(world));
        const batch = await buildFilteredBatch(world, use);
        const found = await index.search(batch, k, world.startProgress);
        assertAdmissible(found, batch, world.corpus);
        return found;
      } finally {
        if (!isSubset) index.dispose();
      }
    },
  });

const keptCandidates = defineSource(true);
/** Computing these takes less time than a file: measured in docs/cache.md. */
const newestCandidates = defineSource(false);

/**
 * What one source finds for every query.
 *
 * @param filter the text of a filter: the source finds the best of the turns that it accepts.
 */
export function candidatesFrom(
  index: IndexOptions,
  propagation: PropagationOptions | null,
  filter: string | null = null,
): StageUse<Candidates> {
  const use = describeSource(index, propagation, filter);
  return index.index === 'newest' ? newestCandidates(use) : keptCandidates(use);
}

type PoolOptions = Pick<RetrieverOptions, 'candidates' | 'propagation' | 'sameChannel' | 'filter'>;

/** Names the sources of a pool as inputs, in their order. */
function listArmSources(options: PoolOptions): Readonly<Record<string, StageUse<Candidates>>> {
  const { candidates, propagation } = options;
  const filter = findSourceFilter(options);
  return Object.fromEntries(candidates.map((index, i) => [`${i}`, candidatesFrom(index, propagation, filter)]));
}

/** The union of what the sources of an arm find. */
export const poolRows = defineStage<PoolOptions, PoolRows, Readonly<Record<string, StageUse<Candidates>>>>({
  name: 'pool',
  module: import.meta.url,
  of: 'queries',
  reads: (options) => [...new Set(Object.values(listArmSources(options)).flatMap(({ reads }) => reads))],
  key: ({ sameChannel, filter }) => ({ sameChannel, ...(filter?.apply === 'after' && { filter: filter.where }) }),
  inputs: listArmSources,
  compute: ({ world, inputs }, options) => {
    const filters = listPoolFilters(options);
    const admits = filters.length === 0 ? () => true : createPoolFilter(filters, world);
    return joinCandidates(Object.values(inputs), world.queries.length, world.tieRanks, admits);
  },
});

/** @param watch is informed of the candidates of each source. */
export async function findPool(
  workspace: Workspace,
  options: PoolOptions & Pick<RetrieverOptions, 'control'>,
  watch: Watch = runUnwatched,
): Promise<CandidatePool> {
  const world = workspace.under(options.control);
  const use = poolRows(options);
  const stage = workspace.plan.under(options.control).stage(use);
  const rows = await workspace.runStage(stage, async () => {
    const found: Record<string, Candidates> = {};
    for (const [name, source] of Object.entries(listArmSources(options)))
      found[name] = await watch(source.name.replace('-', ' '), () => world.get(source));
    return use.compute(world, undefined, found);
  });
  return { ...rows, stage };
}

/**
 * Builds everything that an arm needs and that does not depend on the queries, for a workspace made `withQueries`. Indexes are to hold what its queries may see:
 * hnsw takes turns in when it is asked. The question is a vector without a direction.
 */
export async function warmUp(workspace: Workspace, arm: RetrieverOptions): Promise<void> {
  const { candidates, propagation, scoring, control } = arm;
  if (scoring !== null) await prepareSignals(workspace, scoring.signals);
  const nothing = buildWarmUpBatch(workspace.subcorpora, workspace.batch);
  const world = workspace.under(control);
  for (const options of candidates) {
    const index = await keepIndex(world, describeSource(options, propagation, null));
    await index.search(nothing, 1);
  }
}
