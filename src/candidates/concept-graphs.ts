import { createEventBreaks } from '../core/event-loop.ts';
import { ConceptGraph } from '../graph/concept-graph.ts';
import { EDGE_KINDS } from '../graph/edge-kinds.ts';
import { listConcepts } from '../graph/list-concepts.ts';
import { buildWalkableGraph, type WalkableGraph } from '../graph/temporal-adjacency.ts';
import { readTitle } from '../graph/turn-title.ts';
import type { Corpus } from '../model/corpus.ts';
import { type GraphIndexOptions, needsConceptVectors } from './graph-options.ts';
import type { IndexContext } from './index-definition.ts';
import type { KeptGraphs } from './kept-graphs.ts';
import { findNearForms } from './near-forms.ts';

/** What a concept graph is built from. */
export type GraphContext = Omit<IndexContext, 'seed' | 'graphs'>;

/** Kinds of edges that are only made where they are asked for, since they cost more than the others. Walks leave out what weighs 0. */
const COSTLY_KINDS = ['similar', 'cooccurrence', 'alias'] as const;

function listKinds({ edges }: Pick<GraphIndexOptions, 'edges'>) {
  return EDGE_KINDS.filter((kind) => edges[kind] > 0 || !COSTLY_KINDS.some((costly) => costly === kind));
}

/** The options that the graph depends on, whatever its edges weigh. */
function describeStructure(options: GraphIndexOptions): string {
  const { edges, concepts, similarAbove, aliasAbove, aliasCosine } = options;
  return JSON.stringify([
    concepts,
    listKinds(options),
    edges.similar > 0 && similarAbove,
    edges.alias > 0 && aliasAbove,
    needsConceptVectors(options) && aliasCosine,
  ]);
}

/** @param titles of the first turns, which are those that the graph gets. */
export async function buildConceptGraph(
  { corpus, vectors, dimension, concepts, conceptVectors }: GraphContext,
  titles: readonly (string | null)[],
  options: GraphIndexOptions,
): Promise<ConceptGraph> {
  const { edges, similarAbove, aliasAbove } = options;
  const turns = corpus.turns.slice(0, titles.length);
  const similar = edges.similar > 0 ? await loadSimilarTurns(corpus, vectors, dimension, similarAbove) : [];
  const pause = createEventBreaks();
  const listed: (readonly string[])[] = [];
  for (const [position, turn] of turns.entries()) {
    listed.push(concepts?.[position] ?? listConcepts(turn.text, readTitle(turn), options.concepts));
    await pause();
  }
  const near = await findNearForms(listed, conceptVectors, options);
  const graph = new ConceptGraph(listKinds(options), aliasAbove, near);
  for (const [position, turn] of turns.entries()) {
    const found = similar[position];
    graph.insert([
      { ...turn, title: titles[position]!, concepts: listed[position]!, ...(found && { similar: found }) },
    ]);
    await pause();
  }
  return graph;
}

async function loadSimilarTurns(
  { turns }: Corpus,
  vectors: Float32Array,
  dimension: number,
  above: number,
): Promise<Map<string, number>[]> {
  const { findSimilarTurns } = await import('./similar-turns.ts');
  return findSimilarTurns(
    turns.map(({ id }) => id),
    vectors,
    dimension,
    above,
  );
}

/** The graph of a corpus: the kept one, or a new one. @throws what building it does. */
export function keepConceptGraph(
  graphs: KeptGraphs,
  context: GraphContext,
  options: GraphIndexOptions,
): Promise<ConceptGraph> {
  return graphs.keepGraph(context.corpus, describeStructure(options), () =>
    buildConceptGraph(context, context.corpus.turns.map(readTitle), options),
  );
}

/** {@link keepConceptGraph} as arrays for walks. */
export function keepWalkableGraph(
  graphs: KeptGraphs,
  context: GraphContext,
  options: GraphIndexOptions,
): Promise<WalkableGraph> {
  const key = JSON.stringify([describeStructure(options), options.edges]);
  return graphs.keepWalkable(context.corpus, key, async () =>
    buildWalkableGraph(await keepConceptGraph(graphs, context, options), options.edges),
  );
}
