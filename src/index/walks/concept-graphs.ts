import { ValidationError } from '../../core/errors/errors.ts';
import { gatherRows } from '../../core/tensors/rows.ts';
import { createEventBreaks } from '../../core/terminal/progress.ts';
import type { Corpus } from '../../model/turns/corpus.ts';
import type { ConceptVectors, IndexContext } from '../candidates/index-definition.ts';
import { ConceptGraph, EDGE_KINDS, type EdgeKind, type NearForms, nameConceptNode } from '../graph/concept-graph.ts';
import { readFileConcepts } from '../graph/extraction/concept-file.ts';
import { chooseTextSource } from '../graph/extraction/concept-source.ts';
import { haveSameNumbers, splitFormWords } from '../graph/form-aliases.ts';
import { type KeptGraphs, listConcepts, readTitle } from '../graph/graph-moment.ts';
import { buildWalkableGraph, type WalkableGraph } from '../graph/walkable-graph.ts';
import { type ConceptVectorOptions, type GraphIndexOptions, needsConceptVectors } from './graph-options.ts';

/** The forms that have a vector, the earlier ones first, and their vectors: a view where these are the first of all. */
function selectForms(
  earlier: readonly string[],
  later: readonly string[],
  { names, vectors, dimension }: ConceptVectors,
): { forms: readonly string[]; rows: Float32Array; first: number } {
  const forms = [...earlier, ...later];
  if (forms.every((form, place) => names[place] === form))
    return { forms, rows: vectors.subarray(0, forms.length * dimension), first: earlier.length };
  const wanted = new Set(forms);
  const placeOf = new Map<string, number>();
  for (const [place, name] of names.entries()) if (wanted.has(name)) placeOf.set(name, place);
  const isNamed = (form: string) => placeOf.has(form);
  const named = forms.filter(isNamed);
  const places = named.map((form) => placeOf.get(form)!);
  return { forms: named, rows: gatherRows(vectors, dimension, places), first: earlier.filter(isNamed).length };
}

/**
 * Earlier forms near each form by the cosine of their vectors, with the same numbers; at most 10, as of similar turns.
 *
 * @param listed [turns] concepts in the order of their mentions.
 * @param graph with the forms that were mentioned before, which stay as they are.
 * @throws ValidationError where the options ask for vectors and there are none.
 */
export async function findNearForms(
  listed: readonly (readonly string[])[],
  conceptVectors: ConceptVectors | undefined,
  options: ConceptVectorOptions,
  graph: ConceptGraph | null = null,
): Promise<NearForms> {
  if (!needsConceptVectors(options)) return new Map();
  if (conceptVectors === undefined)
    throw new ValidationError(
      'index graph compares vectors of concepts: none given; pass conceptVectors, or aliasCosine: null',
    );
  const later = [...new Set(listed.flat())].filter((form) => graph?.graph.hasNode(nameConceptNode(form)) !== true);
  if (later.length === 0) return new Map();
  const { forms, rows, first } = selectForms(graph?.concepts ?? [], later, conceptVectors);
  const { findSimilarTurns } = await import('../vectors/distances.ts');
  const found = await findSimilarTurns(forms, rows, conceptVectors.dimension, options.aliasCosine!, first);
  return new Map(
    found.map((near, i) => {
      const form = forms[first + i]!;
      const words = splitFormWords(form);
      return [form, new Map([...near].filter(([other]) => haveSameNumbers(words, splitFormWords(other))))];
    }),
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
 * @param titles in place of those of the first turns, which are then those that the graph gets.
 * @param earlier a graph of the first turns, which takes in the others.
 */
export async function buildConceptGraph(
  context: GraphContext,
  options: GraphIndexOptions,
  titles: readonly (string | null)[] | null = null,
  earlier: ConceptGraph | null = null,
): Promise<ConceptGraph> {
  const { corpus, vectors, dimension, conceptVectors } = context;
  const { edges, similarAbove, aliasAbove, concepts: source } = options;
  const first = earlier?.size ?? 0;
  const similar = edges.similar > 0 ? await loadSimilarTurns(corpus, vectors, dimension, similarAbove, first) : null;
  const pause = createEventBreaks();
  const { concepts, relations } = findGiven(context, source);
  if (edges.relation > 0 && relations === undefined)
    throw new ValidationError(
      'index graph has edges of relations: no triples given; set concepts: { file }, or edges.relation: 0',
    );
  const turns = corpus.turns.slice(first, titles?.length);
  const listed: (readonly string[])[] = [];
  for (const [i, turn] of turns.entries()) {
    listed.push(concepts?.[first + i] ?? listConcepts(turn.text, readTitle(turn), chooseTextSource(source)));
    await pause();
  }
  const near = await findNearForms(listed, conceptVectors, options, earlier);
  const graph = earlier ?? new ConceptGraph(listKinds(options), aliasAbove);
  // Whoever else grows the graph meanwhile inserts the same turns.
  for (let position = graph.size; position < first + turns.length; position = graph.size) {
    const turn = turns[position - first]!;
    const title = titles === null ? readTitle(turn) : titles[position]!;
    const given = { concepts: listed[position - first]!, relations: listPairs(relations?.[position] ?? []) };
    graph.insert([{ ...turn, title, ...given, ...(similar && { similar: similar[position - first]! }) }], near);
    await pause();
  }
  return graph;
}

/** Pairs of what stands one after the other. */
function listPairs(ends: readonly string[]): [string, string][] {
  return Array.from({ length: ends.length / 2 }, (_, pair) => [ends[2 * pair]!, ends[2 * pair + 1]!]);
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
  first: number,
): Promise<Map<string, number>[]> {
  const { findSimilarTurns } = await import('../vectors/distances.ts');
  return findSimilarTurns(
    turns.map(({ id }) => id),
    vectors,
    dimension,
    above,
    first,
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
  return graphs.keepGraph(context.corpus, describeStructure(options), () => {
    if (earlier === null) graphs.built++;
    return buildConceptGraph(context, options, null, earlier);
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
