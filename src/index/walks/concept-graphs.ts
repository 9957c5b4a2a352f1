import { ValidationError } from '../../core/errors/errors.ts';
import { gatherRows } from '../../core/tensors/rows.ts';
import { createEventBreaks } from '../../core/terminal/progress.ts';
import type { Corpus } from '../../model/turns/corpus.ts';
import type { ConceptVectors, IndexContext } from '../candidates/index-definition.ts';
import { ConceptGraph, EDGE_KINDS, type EdgeKind, type NearForms } from '../graph/concept-graph.ts';
import { readFileConcepts } from '../graph/extraction/concept-file.ts';
import { chooseTextSource } from '../graph/extraction/concept-source.ts';
import { haveSameNumbers, splitFormWords } from '../graph/form-aliases.ts';
import { type KeptGraphs, listConcepts, readTitle } from '../graph/graph-moment.ts';
import { buildWalkableGraph, type WalkableGraph } from '../graph/temporal-adjacency.ts';
import { type ConceptVectorOptions, type GraphIndexOptions, needsConceptVectors } from './graph-options.ts';

/**
 * Earlier forms near each form by the cosine of their vectors, with the same numbers; at most 10, as of similar turns.
 *
 * @param listed [turns] concepts in the order of their mentions.
 * @throws ValidationError where the options ask for vectors and there are none.
 */
export async function findNearForms(
  listed: readonly (readonly string[])[],
  conceptVectors: ConceptVectors | undefined,
  options: ConceptVectorOptions,
): Promise<NearForms> {
  if (!needsConceptVectors(options)) return new Map();
  if (conceptVectors === undefined)
    throw new ValidationError(
      'index graph compares vectors of concepts: none given; pass conceptVectors, or aliasCosine: null',
    );
  const { names, vectors, dimension } = conceptVectors;
  const nodeOf = new Map(names.map((name, node) => [name, node]));
  const forms = [...new Set(listed.flat())].filter((form) => nodeOf.has(form));
  const rows = gatherRows(
    vectors,
    dimension,
    forms.map((form) => nodeOf.get(form)!),
  );
  const { findSimilarTurns } = await import('../vectors/distances.ts');
  const found = await findSimilarTurns(forms, rows, dimension, options.aliasCosine!);
  const words = new Map(forms.map((form) => [form, splitFormWords(form)]));
  return new Map(
    forms.map((form, i) => [
      form,
      new Map([...found[i]!].filter(([other]) => haveSameNumbers(words.get(form)!, words.get(other)!))),
    ]),
  );
}

/** What a concept graph is built from. */
export type GraphContext = Omit<IndexContext, 'seed' | 'graphs'>;

/** Kinds of edges that are only made where they are asked for, since they cost more than the others. Walks leave out what weighs 0. */
const COSTLY_KINDS: readonly EdgeKind[] = ['similar', 'cooccurrence', 'relation', 'alias'];

function listKinds({ edges, concepts }: Pick<GraphIndexOptions, 'edges' | 'concepts'>): EdgeKind[] {
  const isNeeded = (kind: EdgeKind) => kind === 'alias' && typeof concepts !== 'string'; // queries are matched by spellings
  return EDGE_KINDS.filter((kind) => edges[kind] > 0 || !COSTLY_KINDS.includes(kind) || isNeeded(kind));
}

/** The options that the graph depends on, whatever its edges weigh. */
function describeStructure(options: GraphIndexOptions): string {
  const { edges, concepts, similarAbove, aliasAbove, aliasCosine } = options;
  const kinds = listKinds(options);
  return JSON.stringify([
    concepts,
    kinds,
    edges.similar > 0 && similarAbove,
    kinds.includes('alias') && aliasAbove,
    needsConceptVectors(options) && aliasCosine,
  ]);
}

/** @param titles of the first turns, which are those that the graph gets. */
export async function buildConceptGraph(
  context: GraphContext,
  titles: readonly (string | null)[],
  options: GraphIndexOptions,
): Promise<ConceptGraph> {
  const { corpus, vectors, dimension, conceptVectors } = context;
  const { edges, similarAbove, aliasAbove, concepts: source } = options;
  const turns = corpus.turns.slice(0, titles.length);
  const similar =
    edges.similar > 0 ? await loadSimilarTurns(corpus, vectors, dimension, similarAbove) : turns.map(() => new Map());
  const pause = createEventBreaks();
  const { concepts, relations } = findGiven(context, source);
  if (edges.relation > 0 && relations === undefined)
    throw new ValidationError(
      'index graph has edges of relations: no triples given; set concepts: { file }, or edges.relation: 0',
    );
  const listed: (readonly string[])[] = [];
  for (const [position, turn] of turns.entries()) {
    listed.push(concepts?.[position] ?? listConcepts(turn.text, readTitle(turn), chooseTextSource(source)));
    await pause();
  }
  const near = await findNearForms(listed, conceptVectors, options);
  const graph = new ConceptGraph(listKinds(options), aliasAbove, near);
  for (const [position, turn] of turns.entries()) {
    const parts = { title: titles[position]!, concepts: listed[position]!, similar: similar[position]! };
    graph.insert([{ ...turn, ...parts, relations: relations?.[position] ?? [] }]);
    await pause();
  }
  return graph;
}

/** The concepts of the turns that were given, or those of a file. */
function findGiven(
  context: GraphContext,
  source: GraphIndexOptions['concepts'],
): Pick<GraphContext, 'concepts' | 'relations'> {
  const isGiven = context.concepts !== undefined || typeof source === 'string';
  return isGiven ? context : readFileConcepts(context.corpus.turns, source);
}

async function loadSimilarTurns(
  { turns }: Corpus,
  vectors: Float32Array,
  dimension: number,
  above: number,
): Promise<Map<string, number>[]> {
  const { findSimilarTurns } = await import('../vectors/distances.ts');
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
