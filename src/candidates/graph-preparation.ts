import { createEventBreaks } from '../core/event-loop.ts';
import { ConceptGraph } from '../graph/concept-graph.ts';
import { EDGE_KINDS } from '../graph/edge-kinds.ts';
import { listConcepts } from '../graph/list-concepts.ts';
import { MomentScorer } from '../graph/moment-scoring.ts';
import { permuteTargets, shuffleTitles } from '../graph/random-graph.ts';
import { buildWalkableGraph, type WalkableGraph } from '../graph/temporal-adjacency.ts';
import { readTitle } from '../graph/turn-title.ts';
import type { Corpus } from '../model/corpus.ts';
import type { GraphIndexOptions } from './graph-options.ts';
import type { IndexContext } from './index-definition.ts';
import { findNearForms } from './near-forms.ts';

/** The graph of a corpus, with room for the scores of one query. */
export interface PreparedGraph extends WalkableGraph {
  readonly graph: ConceptGraph;
  readonly scorer: MomentScorer;
}

type GraphContext = Omit<IndexContext, 'seed'>;

/** The graph of a corpus for the queries of an index, built when it is asked for: one for all moments, and in a null control one for each, drawn as of the moment. */
export class PreparedGraphs {
  readonly #context: GraphContext;
  readonly #options: GraphIndexOptions;
  /** The graph without what a control destroys. */
  #graph: Promise<ConceptGraph> | null = null;
  #last: { readonly asOf: number; readonly prepared: Promise<PreparedGraph> } | null = null;

  constructor(context: GraphContext, options: GraphIndexOptions) {
    this.#context = context;
    this.#options = options;
  }

  get(asOf: number): Promise<PreparedGraph> {
    const moment = this.#context.control === undefined ? Number.POSITIVE_INFINITY : asOf;
    if (this.#last?.asOf !== moment) this.#last = { asOf: moment, prepared: this.#prepare(moment) };
    return this.#last.prepared;
  }

  async #prepare(asOf: number): Promise<PreparedGraph> {
    const { control } = this.#context;
    const titles = this.#context.corpus.turns.map(readTitle);
    if (control?.kind === 'shuffled-titles')
      return this.#makeWalkable(await this.#build(shuffleTitles(titles, asOf, control.seed)));
    this.#graph ??= this.#build(titles);
    const graph = await this.#graph;
    return control === undefined
      ? this.#makeWalkable(graph)
      : this.#makeWalkable(graph, (edges) => permuteTargets(edges, asOf, control.seed));
  }

  #makeWalkable(graph: ConceptGraph, disturb?: Parameters<typeof buildWalkableGraph>[2]): PreparedGraph {
    const walkable = buildWalkableGraph(graph, this.#options.edges, disturb);
    return { ...walkable, graph, scorer: new MomentScorer(walkable.adjacency.size) };
  }

  /** @param titles of the first turns, which are those that the graph gets. */
  async #build(titles: readonly (string | null)[]): Promise<ConceptGraph> {
    const { corpus, vectors, dimension, concepts } = this.#context;
    const { edges, seeds, similarAbove, aliasAbove, concepts: source } = this.#options;
    const turns = corpus.turns.slice(0, titles.length);
    const similar =
      edges.similar > 0 ? await loadSimilarTurns(corpus, vectors, dimension, similarAbove) : turns.map(() => new Map());
    const pause = createEventBreaks();
    const listed: (readonly string[])[] = [];
    for (const [position, turn] of turns.entries()) {
      listed.push(concepts?.[position] ?? listConcepts(turn.text, readTitle(turn), source));
      await pause();
    }
    const near = await findNearForms(listed, this.#context.conceptVectors, this.#options);
    const graph = new ConceptGraph(
      EDGE_KINDS.filter((kind) => edges[kind] > 0 || (kind === 'names' && (edges.namedBy > 0 || seeds.titles))),
      aliasAbove,
      near,
    );
    for (const [position, turn] of turns.entries()) {
      graph.insert([{ ...turn, title: titles[position]!, concepts: listed[position]!, similar: similar[position]! }]);
      await pause();
    }
    return graph;
  }

  clear(): void {
    this.#graph = null;
    this.#last = null;
  }
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
