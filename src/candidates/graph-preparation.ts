import { ValidationError } from '../core/errors.ts';
import { createEventBreaks } from '../core/event-loop.ts';
import { ConceptGraph } from '../graph/concept-graph.ts';
import { EDGE_KINDS } from '../graph/edge-kinds.ts';
import { chooseTextSource } from '../graph/extraction/concept-source.ts';
import { readFileConcepts } from '../graph/extraction/file-concepts.ts';
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
    const { corpus, vectors, dimension } = this.#context;
    const { edges, seeds, similarAbove, aliasAbove, concepts: source } = this.#options;
    const turns = corpus.turns.slice(0, titles.length);
    const similar =
      edges.similar > 0 ? await loadSimilarTurns(corpus, vectors, dimension, similarAbove) : turns.map(() => new Map());
    const pause = createEventBreaks();
    const { concepts, relations } = this.#findGiven();
    if (edges.relation > 0 && relations === undefined)
      throw new ValidationError(
        'index graph has edges of relations: no triples given; set concepts: { file }, or edges.relation: 0',
      );
    const listed: (readonly string[])[] = [];
    for (const [position, turn] of turns.entries()) {
      listed.push(concepts?.[position] ?? listConcepts(turn.text, readTitle(turn), chooseTextSource(source)));
      await pause();
    }
    const near = await findNearForms(listed, this.#context.conceptVectors, this.#options);
    const graph = new ConceptGraph(
      EDGE_KINDS.filter(
        (kind) =>
          edges[kind] > 0 ||
          (kind === 'names' && (edges.namedBy > 0 || seeds.titles)) ||
          (kind === 'alias' && typeof source !== 'string'), // queries are matched by spellings
      ),
      aliasAbove,
      near,
    );
    for (const [position, turn] of turns.entries()) {
      const parts = { title: titles[position]!, concepts: listed[position]!, similar: similar[position]! };
      graph.insert([{ ...turn, ...parts, relations: relations?.[position] ?? [] }]);
      await pause();
    }
    return graph;
  }

  /** The concepts of the turns that were given, or those of a file. */
  #findGiven(): Pick<IndexContext, 'concepts' | 'relations'> {
    const { corpus, concepts } = this.#context;
    const { concepts: source } = this.#options;
    return concepts !== undefined || typeof source === 'string'
      ? this.#context
      : readFileConcepts(corpus.turns, source);
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
