import type { Corpus } from '../../model/turns/corpus.ts';
import type { ConceptGraph } from './concept-graph.ts';
import type { WalkableGraph } from './temporal-adjacency.ts';

interface Kept<T> {
  readonly key: string;
  readonly value: Promise<T>;
}

function keepLast<T>(kept: WeakMap<Corpus, Kept<T>>, corpus: Corpus, key: string, make: () => Promise<T>): Promise<T> {
  const last = kept.get(corpus);
  if (last?.key === key) return last.value;
  const value = make();
  kept.set(corpus, { key, value });
  return value;
}

/**
 * The concept graphs of corpora for indexes that share them. For each corpus the graph that was asked for last is kept, and its arrays by the last weights of edges,
 * so that memory does not grow with the number of arms. The concepts and vectors of a corpus are always the same.
 */
export class KeptGraphs {
  readonly #graphs = new WeakMap<Corpus, Kept<ConceptGraph>>();
  readonly #walkable = new WeakMap<Corpus, Kept<WalkableGraph>>();
  /** Graphs built so far. */
  built = 0;

  /** The graph of a corpus if it was kept under the key, else the one that is made, which replaces it. */
  keepGraph(corpus: Corpus, key: string, make: () => Promise<ConceptGraph>): Promise<ConceptGraph> {
    return keepLast(this.#graphs, corpus, key, () => {
      this.built++;
      return make();
    });
  }

  /** The arrays of a graph, as {@link KeptGraphs.keepGraph}. */
  keepWalkable(corpus: Corpus, key: string, make: () => Promise<WalkableGraph>): Promise<WalkableGraph> {
    return keepLast(this.#walkable, corpus, key, make);
  }
}
