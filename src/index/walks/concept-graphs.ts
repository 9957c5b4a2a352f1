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
import { buildWalkableGraph, type WalkableGraph } from '../graph/walkable-graph.ts';
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

/**
 * True if a graph takes in later turns. Similar turns and forms that are near by their vectors are found among all at
 * once, so that a graph with these is built again.
 */
const canTakeIn = (options: GraphIndexOptions) => options.edges.similar === 0 && !needsConceptVectors(options);

/**
 * @param titles in place of those of the first turns, which are then those that the graph gets.
 * @param earlier a graph of the first turns, which takes in the others; see {@link canTakeIn}.
 */
export async function buildConceptGraph(
  context: GraphContext,
  options: GraphIndexOptions,
  titles: readonly (string | null)[] | null = null,
  earlier: ConceptGraph | null = null,
): Promise<ConceptGraph> {
  const { corpus, vectors, dimension, conceptVectors } = context;
  const { edges, similarAbove, aliasAbove, concepts: source } = options;
  const similar = edges.similar > 0 ? await loadSimilarTurns(corpus, vectors, dimension, similarAbove) : null;
  const pause = createEventBreaks();
  const { concepts, relations } = findGiven(context, source);
  if (edges.relation > 0 && relations === undefined)
    throw new ValidationError(
      'index graph has edges of relations: no triples given; set concepts: { file }, or edges.relation: 0',
    );
  const first = earlier?.size ?? 0;
  const turns = corpus.turns.slice(first, titles?.length);
  const listed: (readonly string[])[] = [];
  for (const [i, turn] of turns.entries()) {
    listed.push(concepts?.[first + i] ?? listConcepts(turn.text, readTitle(turn), chooseTextSource(source)));
    await pause();
  }
  const graph =
    earlier ?? new ConceptGraph(listKinds(options), aliasAbove, await findNearForms(listed, conceptVectors, options));
  // Whoever else grows the graph meanwhile inserts the same turns.
  for (let position = graph.size; position < first + turns.length; position = graph.size) {
    const turn = turns[position - first]!;
    const title = titles === null ? readTitle(turn) : titles[position]!;
    const given = { concepts: listed[position - first]!, relations: relations?.[position] ?? [] };
    graph.insert([{ ...turn, title, ...given, ...(similar && { similar: similar[position]! }) }]);
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

/**
 * The graph of a corpus: the kept one, or else an earlier one that grows, or a new one.
 *
 * @param earlier with the same options, of the first turns of the corpus.
 * @throws what building it does.
 */
export function keepConceptGraph(
  graphs: KeptGraphs,
  context: GraphContext,
  options: GraphIndexOptions,
  earlier: ConceptGraph | null = null,
): Promise<ConceptGraph> {
  const grown = canTakeIn(options) ? earlier : null;
  return graphs.keepGraph(context.corpus, describeStructure(options), () => {
    if (grown === null) graphs.built++;
    return buildConceptGraph(context, options, null, grown);
  });
}

/** {@link keepConceptGraph} as arrays for walks, which grow with the graph. */
export function keepWalkableGraph(
  graphs: KeptGraphs,
  context: GraphContext,
  options: GraphIndexOptions,
  earlier: WalkableGraph | null = null,
): Promise<WalkableGraph> {
  const key = JSON.stringify([describeStructure(options), options.edges]);
  return graphs.keepWalkable(context.corpus, key, async () => {
    const graph = await keepConceptGraph(graphs, context, options, earlier?.graph);
    return earlier?.graph === graph ? earlier.grow() : buildWalkableGraph(graph, options.edges);
  });
}
