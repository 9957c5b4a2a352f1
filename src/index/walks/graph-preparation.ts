import type { IndexContext } from '../candidates/index-definition.ts';
import type { ConceptGraph } from '../graph/concept-graph.ts';
import { KeptGraphs } from '../graph/kept-graphs.ts';
import { MomentScorer } from '../graph/moment-scoring.ts';
import { permuteTargets, shuffleTitles } from '../graph/random-graph.ts';
import { buildWalkableGraph, type KindedEdges, type WalkableGraph } from '../graph/temporal-adjacency.ts';
import { readTitle } from '../graph/turn-title.ts';
import { buildConceptGraph, keepConceptGraph, keepWalkableGraph } from './concept-graphs.ts';
import type { GraphIndexOptions } from './graph-options.ts';

/** The graph of a corpus, with room for the scores of one query. */
export interface PreparedGraph extends WalkableGraph {
  readonly graph: ConceptGraph;
  readonly scorer: MomentScorer;
}

/** The graph of a corpus for the queries of an index, built when it is asked for: one for all moments, and in a null control one for each, drawn as of the moment. */
export class PreparedGraphs {
  readonly #context: Omit<IndexContext, 'seed'>;
  readonly #options: GraphIndexOptions;
  #graphs: KeptGraphs;
  #last: { readonly asOf: number; readonly prepared: Promise<PreparedGraph> } | null = null;

  constructor(context: Omit<IndexContext, 'seed'>, options: GraphIndexOptions) {
    this.#context = context;
    this.#options = options;
    this.#graphs = context.graphs ?? new KeptGraphs();
  }

  get(asOf: number): Promise<PreparedGraph> {
    const moment = this.#context.control === undefined ? Number.POSITIVE_INFINITY : asOf;
    if (this.#last?.asOf !== moment) this.#last = { asOf: moment, prepared: this.#prepare(moment) };
    return this.#last.prepared;
  }

  async #prepare(asOf: number): Promise<PreparedGraph> {
    const context = this.#context;
    const options = this.#options;
    const { control, corpus } = context;
    if (control?.kind === 'shuffled-titles') {
      const titles = shuffleTitles(corpus.turns.map(readTitle), asOf, control.seed);
      const graph = await buildConceptGraph(context, titles, options);
      return prepare(graph, buildWalkableGraph(graph, options.edges));
    }
    const graph = await keepConceptGraph(this.#graphs, context, options);
    if (control === undefined) return prepare(graph, await keepWalkableGraph(this.#graphs, context, options));
    const disturb = (edges: KindedEdges) => permuteTargets(edges, asOf, control.seed);
    return prepare(graph, buildWalkableGraph(graph, options.edges, disturb));
  }

  clear(): void {
    this.#graphs = new KeptGraphs();
    this.#last = null;
  }
}

function prepare(graph: ConceptGraph, walkable: WalkableGraph): PreparedGraph {
  return { ...walkable, graph, scorer: new MomentScorer(walkable.adjacency.size) };
}
