import type { ConceptVectors, GraphControl } from '../../index/candidates/index-definition.ts';
import { identifyConceptSource } from '../../index/graph/extraction/concept-source.ts';
import type { MemorySource } from '../../index/memories/memory-options.ts';
import { INDEXES, type IndexOptions, listIndexReads } from '../../index/registry.ts';
import { hashRunFile } from '../../index/runs/run-options.ts';
import { needsConceptVectors } from '../../index/walks/graph-options.ts';
import type { SliceOptions } from '../../kernel/slices/slice-options.ts';
import type { CandidateIndex, Candidates } from '../../model/candidates.ts';
import { formatFilter } from '../../model/filter/format-filter.ts';
import { parseFilter } from '../../model/filter/parse-filter.ts';
import type { PropagationOptions } from '../../ops/attention/options.ts';
import type { PropagatedVersions } from '../../ops/attention/versioned-propagation.ts';
import { type AskedMemories, askedMemories, type TurnEntities, turnEntities } from '../signals/asked-memories.ts';
import { propagatedRows } from '../signals/cosine.ts';
import { shareConceptGraphs } from '../signals/graph-relations.ts';
import type { StageUse, World } from '../signals/signal.ts';
import { createSubcorpusIndex } from '../signals/subcorpus.ts';
import {
  conceptVectors,
  listTurnConcepts,
  listTurnRelations,
  queryConcepts,
  type TurnConcepts,
  turnConcepts,
  turnRelations,
} from '../signals/turn-concepts.ts';

/** A source of candidates: an index, and what the turns' vectors are mixed with before a search. */
export interface SourceUse {
  readonly index: IndexOptions;
  /** Of `flat` alone: the other indexes do not know propagated rows. */
  readonly propagation: PropagationOptions | null;
  /** The text of a filter that is applied before the search; null: every earlier turn is visible. */
  readonly filter: string | null;
  /** What a kernel signs that each query may see; null: every earlier turn. */
  readonly slice: SliceOptions | null;
  /** Of `graph` alone: the sources whose results are where its walks start. */
  readonly seedSources: readonly StageUse<Candidates>[];
}

/** A filter that both texts accept; null for none. */
export function joinFilters(a: string | null, b: string | null): string | null {
  return a === null || b === null ? (a ?? b) : formatFilter(parseFilter(`(${a}) and (${b})`));
}

/** @param filter that of the arm; a source of memories has its own besides. */
export function describeSource(
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
export function describeIndex({ index }: SourceUse, seed: number): unknown {
  if (index.index === 'run') return { index: 'run', k: index.k, content: hashRunFile(index) };
  const { version } = INDEXES.get(index.index);
  if (version !== undefined) return [index, seed, version];
  if (index.index === 'graph') return { ...index, concepts: identifyConceptSource(index.concepts) };
  return index.index === 'hnsw' ? [index, seed] : index;
}

/** What an index is made from besides the corpus and its vectors. */
export interface IndexParts {
  readonly rows?: PropagatedVersions;
  readonly concepts?: TurnConcepts;
  readonly relations?: TurnConcepts;
  readonly conceptVectors?: ConceptVectors;
  readonly entities?: TurnEntities;
}

/** The stages of {@link IndexParts} that a source needs. */
export function listIndexParts({ index, propagation }: SourceUse): Readonly<Record<string, StageUse<unknown>>> {
  return {
    ...(propagation === null ? {} : { rows: propagatedRows(propagation) }),
    ...(index.index === 'graph' ? { concepts: turnConcepts(index.concepts) } : {}),
    ...(index.index === 'graph' && typeof index.concepts !== 'string' && index.edges.relation > 0
      ? { relations: turnRelations(index.concepts) }
      : {}),
    ...(index.index === 'graph' && needsConceptVectors(index)
      ? { conceptVectors: conceptVectors(index.concepts) }
      : {}),
    ...(index.index === 'entities' ? { entities: turnEntities(null) } : {}),
  };
}

/** Sources of memories that depend on what a question asks for. */
const ASKING: readonly string[] = ['entities', 'time', 'procedural', 'summaries'] satisfies readonly MemorySource[];

/** The stage of what questions ask of memories, for the sources that need it. */
function listAskedMemories({ index }: IndexOptions): StageUse<AskedMemories>[] {
  return ASKING.includes(index) ? [askedMemories(null)] : [];
}

/** What the results of a source depend on. */
export function listSourceReads({ index, propagation, slice, seedSources }: SourceUse): StageUse<Candidates>['reads'] {
  return [
    ...new Set([
      ...listIndexReads(index),
      ...listAskedMemories(index).flatMap(({ reads }) => reads),
      ...(propagation === null ? [] : (['order'] as const)),
      ...(index.index === 'graph' && needsConceptVectors(index) ? (['vectors'] as const) : []),
      ...(slice === null ? [] : (['slices'] as const)),
      ...seedSources.flatMap(({ reads }) => reads),
    ]),
  ];
}

/** The concepts of the queries, for walks that start at them; what questions ask of memories. */
export function listAskedParts({ index }: SourceUse): Readonly<Record<string, StageUse<unknown>>> {
  const [memories] = listAskedMemories(index);
  if (memories !== undefined) return { memories };
  return index.index === 'graph' && index.seeds.concepts ? { asked: queryConcepts(index.concepts) } : {};
}

export async function openIndex(
  world: World,
  { index }: SourceUse,
  { rows, concepts, relations, conceptVectors: named, entities }: IndexParts,
): Promise<CandidateIndex> {
  const { turnVectors: vectors, dimension, seed } = world;
  const control = readGraphControl(world);
  const context = {
    vectors,
    dimension,
    seed,
    ...(concepts && { concepts: listTurnConcepts(concepts) }),
    ...(relations && { relations: listTurnRelations(relations) }),
    ...(named && { conceptVectors: named }),
    ...(entities && { entities: entities.entities }),
    ...(control && { control }),
    ...(index.index === 'graph' && { graphs: await shareConceptGraphs(world) }),
  };
  return createSubcorpusIndex(index, world.subcorpora, context, rows);
}

/** The null control of a world, if it destroys a part of the concept graph. */
export function readGraphControl(world: World): GraphControl | null {
  const { control } = world;
  if (control?.kind !== 'random-graph' && control?.kind !== 'shuffled-titles') return null;
  return { kind: control.kind, seed: world.controlSeed(control) };
}
