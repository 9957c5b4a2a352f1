import type { ConceptVectors, GraphControl } from '../../index/candidates/index-definition.ts';
import { assertAdmissible, isListed } from '../../index/candidates/query-batch.ts';
import { identifyConceptSource } from '../../index/graph/extraction/concept-source.ts';
import { INDEXES, type IndexOptions, listIndexReads } from '../../index/registry.ts';
import { hashRunFile } from '../../index/runs/run-options.ts';
import { needsConceptVectors } from '../../index/walks/graph-options.ts';
import type { SliceOptions } from '../../kernel/slices/slice-options.ts';
import type { CandidateIndex, Candidates, MemoryQuestion, QueryBatch } from '../../model/candidates.ts';
import { formatFilter } from '../../model/filter/filter-schema.ts';
import { parseFilter } from '../../model/filter/parse-filter.ts';
import type { PropagationOptions } from '../../ops/attention/options.ts';
import type { PropagatedVersions } from '../../ops/attention/versioned-propagation.ts';
import {
  type AskedMemories,
  askedMemories,
  type FoundRecords,
  foundRecords,
  listMemoryQuestions,
  listRecordQuestions,
  type TurnEntities,
  turnEntities,
} from '../signals/asked-memories.ts';
import { listTurnConcepts, type TurnConcepts } from '../signals/concept-list.ts';
import { propagatedRows } from '../signals/cosine.ts';
import { prepareTokens } from '../signals/late.ts';
import { defineStage, type StageUse, type World } from '../signals/signal.ts';
import { type CandidatePool, joinCandidates, type PoolRows } from '../signals/stage.ts';
import { buildWarmUpBatch, createSubcorpusIndex } from '../signals/subcorpus.ts';
import {
  conceptVectors,
  fuseSeedTurns,
  queryConcepts,
  shareConceptGraphs,
  turnConcepts,
  turnRelations,
} from '../signals/turn-concepts.ts';
import type { Workspace } from '../signals/workspace.ts';
import type { ControlOptions } from '../signals/worlds/world-parts.ts';
import { createPoolFilter, listVisibleTurns } from './query-filter.ts';
import { openSlices, signedSlices } from './signed-slices.ts';
import { type Outline, runUnwatched, type Source, type View, type Watch } from './steps/step.ts';

/** A source of candidates: an index, and what the turns' vectors are mixed with before a search. */
interface SourceUse {
  readonly index: IndexOptions;
  /** The propagated vectors of `flat` alone: the other indexes do not know propagated rows. */
  readonly propagation: PropagationOptions | null;
  /** The text of a filter that is applied before the search; null: every earlier turn is visible. */
  readonly filter: string | null;
  /** The slice that a kernel signs for each query; null: every earlier turn. */
  readonly slice: SliceOptions | null;
  /** The sources whose results are where the walks of `graph` start; for `graph` alone. */
  readonly seedSources: readonly StageUse<Candidates>[];
}

/** A filter that both texts accept; null for none. */
export function joinFilters(a: string | null, b: string | null): string | null {
  return a === null || b === null ? (a ?? b) : formatFilter(parseFilter(`(${a}) and (${b})`));
}

/** @param filter that of the arm; a source of memories has its own besides. */
function describeSource(
  index: IndexOptions,
  propagation: PropagationOptions | null,
  filter: string | null,
  seedSources: readonly StageUse<Candidates>[] = [],
  slice: SliceOptions | null = null,
): SourceUse {
  return {
    index,
    propagation: index.index === 'flat' ? propagation : null,
    filter: joinFilters(filter, 'filter' in index ? index.filter : null),
    slice,
    seedSources: index.index === 'graph' ? seedSources : [],
  };
}

/** The key of an index's result; the results without a filter keep the key that they had before there were filters. */
function describeIndex({ index }: SourceUse, seed: number): unknown {
  if (index.index === 'domain') return { index: 'domain', k: index.k }; // what it asks is an input
  if (index.index === 'run') return { index: 'run', k: index.k, content: hashRunFile(index) };
  const { version } = INDEXES.get(index.index);
  if (version !== undefined) return [index, seed, version];
  if (index.index === 'graph') return { ...index, concepts: identifyConceptSource(index.concepts) };
  return index.index === 'hnsw' ? [index, seed] : index;
}

/** The inputs of an index besides the corpus and its vectors. */
interface IndexParts {
  readonly rows?: PropagatedVersions;
  readonly concepts?: TurnConcepts;
  readonly relations?: TurnConcepts;
  readonly conceptVectors?: ConceptVectors;
  readonly entities?: TurnEntities;
}

/** The stages of {@link IndexParts} that a source needs. */
function listIndexParts({ index, propagation }: SourceUse): Readonly<Record<string, StageUse<unknown>>> {
  return {
    ...(propagation === null ? {} : { rows: propagatedRows(propagation) }),
    ...(index.index === 'graph' ? { concepts: turnConcepts(index.concepts) } : {}),
    ...(index.index === 'graph' && typeof index.concepts !== 'string' && index.edges.relation > 0
      ? { relations: turnRelations(index.concepts) }
      : {}),
    ...(index.index === 'graph' && needsConceptVectors(index)
      ? { conceptVectors: conceptVectors(index.concepts) }
      : {}),
    ...(index.index === 'entities' || index.index === 'facts' ? { entities: turnEntities(null) } : {}),
  };
}

/** Sources of memories that depend on what a question asks for. */
const ASKING: readonly IndexOptions['index'][] = ['entities', 'time', 'procedural', 'summaries', 'facts'];

/** The stage of what questions ask of memories, for the sources that need it. */
function listAskedMemories({ index }: IndexOptions): StageUse<AskedMemories>[] {
  return ASKING.includes(index) ? [askedMemories(null)] : [];
}

/** The inputs that the results of a source depend on. */
function listSourceReads({ index, propagation, slice, seedSources }: SourceUse): StageUse<Candidates>['reads'] {
  return [
    ...new Set([
      ...listIndexReads(index),
      ...listAskedMemories(index).flatMap(({ reads }) => reads),
      ...(index.index === 'domain' ? foundRecords(index).reads : []),
      ...(propagation === null ? [] : (['order'] as const)),
      ...(index.index === 'graph' && needsConceptVectors(index) ? (['vectors'] as const) : []),
      ...(slice === null ? [] : (['slices'] as const)),
      ...seedSources.flatMap(({ reads }) => reads),
    ]),
  ];
}

/** The concepts of the queries, for walks that start at them; what questions ask of memories or of a database. */
function listAskedParts({ index }: SourceUse): Readonly<Record<string, StageUse<unknown>>> {
  const [memories] = listAskedMemories(index);
  if (memories !== undefined) return { memories };
  if (index.index === 'domain') return { records: foundRecords(index) };
  return index.index === 'graph' && index.seeds.concepts ? { asked: queryConcepts(index.concepts) } : {};
}

/** The questions that a source of memories or of records reads. */
function listQuestions(inputs: Readonly<Record<string, unknown>>): MemoryQuestion[] | undefined {
  if (inputs.records !== undefined) return listRecordQuestions(inputs.records as FoundRecords);
  return inputs.memories === undefined ? undefined : listMemoryQuestions(inputs.memories as AskedMemories);
}

async function openIndex(
  world: World,
  { index, propagation }: SourceUse,
  { rows, concepts, relations, conceptVectors: named, entities }: IndexParts,
  isKept = false,
): Promise<CandidateIndex> {
  const comparesVectors = propagation !== null || listIndexReads(index).includes('vectors');
  const control = readGraphControl(world);
  const context = {
    vectors: comparesVectors ? world.turnVectors : new Float32Array(0),
    dimension: comparesVectors ? world.dimension : 0,
    seed: world.seed,
    ...(concepts && { concepts: listTurnConcepts(concepts) }),
    ...(relations && { relations: listTurnConcepts(relations) }),
    ...(named && { conceptVectors: named }),
    ...(entities && { entities: entities.entities }),
    ...(control && { control }),
    ...(index.index === 'late' && { tokens: await prepareTokens(world, index) }),
    ...(index.index === 'graph' && { graphs: await shareConceptGraphs(world) }),
  };
  const keptAs = isKept ? { areEntitiesGiven: entities?.areGiven ?? null } : null;
  return createSubcorpusIndex(index, world.subcorpora, context, rows, keptAs);
}

/** The null control of a world, if it destroys a part of the concept graph. */
function readGraphControl(world: World): GraphControl | null {
  const { control } = world;
  if (control?.kind !== 'random-graph' && control?.kind !== 'shuffled-titles') return null;
  return { kind: control.kind, seed: world.controlSeed(control) };
}

/** An index that is kept until the workspace is disposed, as one that is asked time and again. */
function keepIndex(owner: World, use: SourceUse): Promise<CandidateIndex> {
  // Only another order of turns changes propagated rows, which alone change an index that is no graph.
  const order = use.propagation !== null && owner.control?.kind === 'permuted-order' ? owner.control : null;
  const control = use.index.index === 'graph' ? readGraphControl(owner) : order;
  return owner.keepOnce(['index', { index: use.index, propagation: use.propagation }, control], async () => {
    const parts: Record<string, unknown> = {};
    for (const [name, part] of Object.entries(listIndexParts(use))) parts[name] = await owner.get(part);
    return openIndex(owner, use, parts, true);
  });
}

/** [Q] the turns that each query may see, by the slice and by the filter; null: every earlier turn. */
export async function listSourceVisible(
  world: World,
  { filter, slice }: Pick<View, 'filter' | 'slice'>,
): Promise<readonly Int32Array[] | null> {
  const accepted =
    filter === null ? null : await world.keepOnce(['visible', filter], () => listVisibleTurns(filter, world));
  const { control } = world;
  const admitted =
    slice === null ? null : await world.keepOnce(['slices', slice, control], () => openSlices(world, slice));
  if (accepted === null || admitted === null) return accepted ?? admitted;
  return world.keepOnce(['visible', filter, slice, control], () =>
    admitted.map((list, query) => list.filter((position) => isListed(accepted[query] as Int32Array, position))),
  );
}

/** The queries with the turns that a filter accepts for each, whose lists the sources of an arm share, and with the turns and concepts where walks start. */
async function buildSourceBatch(
  world: World,
  use: SourceUse,
  found: readonly Candidates[],
  asked: TurnConcepts | undefined,
  questions: readonly MemoryQuestion[] | undefined,
): Promise<QueryBatch> {
  const { batch, corpus } = world;
  const { index } = use;
  const visible = await listSourceVisible(world, use);
  const seeds = index.index === 'graph' ? fuseSeedTurns(found, batch.cutoffs.length, index.seeds, corpus) : null;
  const concepts = asked && listTurnConcepts(asked);
  return {
    ...batch,
    ...(visible && { visible }),
    ...(seeds && { seeds }),
    ...(concepts && { concepts }),
    ...(questions && { asked: questions }),
  };
}

/** How many candidates a query can have: the turns that exist before the last one. */
function countMostFound({ batch }: World): number {
  return batch.cutoffs.reduce((most, cutoff) => Math.max(most, cutoff), 1);
}

/** What one source finds for every query, each turn strictly earlier than the query. */
const defineSource = (isKept: boolean) =>
  defineStage<SourceUse, Candidates, Readonly<Record<string, StageUse<unknown>>>>({
    name: ({ index: { index } }) => `candidates-${index}`,
    module: import.meta.url,
    of: 'queries',
    isKept,
    reads: listSourceReads,
    key: (use, { seed }) => {
      const key = describeIndex(use, seed);
      return use.filter === null ? key : { of: key, filter: use.filter };
    },
    inputs: (use) => ({
      ...listIndexParts(use),
      ...listAskedParts(use),
      ...(use.slice === null ? {} : { slices: signedSlices(use.slice) }),
      ...nameInOrder(use.seedSources),
    }),
    compute: async ({ world, inputs }, use) => {
      // Propagated rows depend on the moments of all queries.
      const owner = use.propagation === null ? world.shared : world.whole;
      const isKept = owner.queries !== world.queries;
      const index = isKept ? await keepIndex(owner, use) : await openIndex(world, use, inputs as IndexParts);
      try {
        const k = Math.min(use.index.k, countMostFound(world));
        const found = use.seedSources.map((_, i) => inputs[`${i}`] as Candidates);
        const concepts = inputs.asked as TurnConcepts | undefined;
        const batch = await buildSourceBatch(world, use, found, concepts, listQuestions(inputs));
        const candidates = await index.search(batch, k, world.startProgress);
        assertAdmissible(candidates, batch, world.corpus);
        return candidates;
      } finally {
        if (!isKept) index.dispose();
      }
    },
  });

const keptCandidates = defineSource(true);
/** Computing these takes less time than a file: measured in docs/cache.md. */
const newestCandidates = defineSource(false);

/**
 * What one source finds for every query. Of the source of an arm: {@link candidatesOfArm}.
 *
 * @param filter the text of a filter: the source finds the best of the turns that it accepts.
 * @param seedSources of `graph`: whose results are where its walks start.
 * @param slice what a kernel signs that the queries may see.
 */
export function candidatesFrom(
  index: IndexOptions,
  propagation: PropagationOptions | null,
  filter: string | null = null,
  seedSources: readonly StageUse<Candidates>[] = [],
  slice: SliceOptions | null = null,
): StageUse<Candidates> {
  const use = describeSource(index, propagation, filter, seedSources, slice);
  return index.index === 'newest' ? newestCandidates(use) : keptCandidates(use);
}

/** Indexes whose results are not where a walk starts: those of walks, and of what does not depend on the query. */
const SEEDLESS: readonly string[] = ['graph', 'newest'];

/** The sources of a search over what its queries see; walks start at what the other sources find. */
export function listSources(
  named: Readonly<Record<string, IndexOptions>>,
  { filter, slice, propagation }: View,
): Source[] {
  const find = (index: IndexOptions, seeds: readonly StageUse<Candidates>[] = []) =>
    candidatesFrom(index, propagation, filter, seeds, slice);
  const seeds = Object.values(named).filter(({ index }) => !SEEDLESS.includes(index));
  return Object.entries(named).map(([name, index]) => ({
    name,
    index,
    found:
      index.index === 'graph'
        ? find(
            index,
            seeds.map((seed) => find(seed)),
          )
        : find(index),
  }));
}

/** The inputs of a stage by their places. */
function nameInOrder<T>(stages: readonly StageUse<T>[]): Record<string, StageUse<T>> {
  return Object.fromEntries(stages.entries());
}

/** What a pool is made of: what sources find, and the filters that leave turns out. */
export type PoolParts = Pick<Outline, 'sources' | 'poolFilters'>;

/** Names the sources of a pool as inputs, in their order. */
function listFound({ sources }: PoolParts): Readonly<Record<string, StageUse<Candidates>>> {
  return nameInOrder(sources.map(({ found }) => found));
}

/** The union of what the sources of an arm find. */
export const poolRows = defineStage<PoolParts, PoolRows, Readonly<Record<string, StageUse<Candidates>>>>({
  name: 'pool',
  module: import.meta.url,
  of: 'queries',
  reads: ({ sources }) => [...new Set(sources.flatMap(({ found }) => found.reads))],
  key: ({ poolFilters }) => poolFilters,
  inputs: listFound,
  compute: ({ world, inputs }, { poolFilters }) => {
    const admits = poolFilters.length === 0 ? () => true : createPoolFilter(poolFilters, world);
    return joinCandidates(Object.values(inputs), world.queries.length, world.corpus.compareTies, admits);
  },
});

/** @param watch is informed of the candidates of each source. */
export async function findPool(
  workspace: Workspace,
  control: ControlOptions | null,
  parts: PoolParts,
  watch: Watch = runUnwatched,
): Promise<CandidatePool> {
  const world = workspace.under(control);
  const use = poolRows(parts);
  const stage = workspace.plan.under(control).stage(use);
  const rows = await workspace.runStage(stage, async () => {
    const found: Record<string, Candidates> = {};
    for (const [name, source] of Object.entries(listFound(parts)))
      found[name] = await watch(source.name.replace('-', ' '), () => world.get(source));
    return use.compute(world, undefined, found);
  });
  return { ...rows, stage };
}

/**
 * Builds the indexes of some sources, for a workspace made `withQueries`: what does not depend on the queries. Indexes are to hold what its queries may see:
 * hnsw takes turns in when it is asked. The question is a vector without a direction.
 */
export async function warmUpSources(
  workspace: Workspace,
  control: ControlOptions | null,
  indexes: readonly IndexOptions[],
  propagation: PropagationOptions | null,
): Promise<void> {
  const nothing = buildWarmUpBatch(workspace.subcorpora, workspace.batch);
  const world = workspace.under(control);
  for (const options of indexes) {
    const use = describeSource(options, propagation, null);
    const index = await keepIndex(use.propagation === null ? world.shared : world.whole, use);
    await index.search(nothing, 1);
  }
}
