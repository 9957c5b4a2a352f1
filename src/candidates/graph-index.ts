import { ValidationError } from '../core/errors.ts';
import { createEventBreaks } from '../core/event-loop.ts';
import { ignoreProgress, type StartProgress } from '../core/progress.ts';
import { ConceptGraph, nameConceptNode } from '../graph/concept-graph.ts';
import { EDGE_KINDS } from '../graph/edge-kinds.ts';
import { GraphMoment } from '../graph/graph-moment.ts';
import { listConcepts } from '../graph/list-concepts.ts';
import { MomentScorer } from '../graph/moment-scoring.ts';
import { buildWalkableGraph, type WalkableGraph } from '../graph/temporal-adjacency.ts';
import { readTitle } from '../graph/turn-title.ts';
import type { CandidateIndex, Candidates, QueryBatch, SeedTurns } from '../model/candidates.ts';
import type { Corpus } from '../model/corpus.ts';
import { rankIdsDescending } from '../model/tie-rule.ts';
import type { GraphIndexOptions } from './graph-options.ts';
import type { CreateIndex, IndexContext } from './index-definition.ts';
import { allocateCandidates, assertQueries } from './query-batch.ts';
import { TopSelection } from './top-selection.ts';
import { groupByVisibleList } from './visible-turns.ts';

/** The graph of a corpus, with room for the scores of one query. */
interface Prepared extends WalkableGraph {
  readonly graph: ConceptGraph;
  readonly scorer: MomentScorer;
}

/**
 * The turns around the seeds of a query, on a {@link ConceptGraph} of the corpus as of the query's moment: what exists later and what is hidden is not there for its
 * walks. Seeds are the turns that other sources found (`QueryBatch.seeds`), the concepts of the query and the turns whose titles it holds; a query whose seeds are not
 * in the graph finds nothing.
 *
 * The graph is built with the first search. A query costs what its walks touch.
 */
export class GraphIndex implements CandidateIndex {
  readonly name = 'graph';
  readonly #context: Omit<IndexContext, 'seed'>;
  readonly #options: GraphIndexOptions;
  readonly #listQueryConcepts: (text: string) => readonly string[];
  readonly #ranks: Int32Array;
  #prepared: Promise<Prepared> | null = null;
  #disposed = false;

  /** @param listQueryConcepts of the text of a query, as those of the turns are. */
  constructor(
    context: Omit<IndexContext, 'seed'>,
    options: GraphIndexOptions,
    listQueryConcepts: (text: string) => readonly string[] = listConcepts,
  ) {
    this.#context = context;
    this.#options = options;
    this.#listQueryConcepts = listQueryConcepts;
    this.#ranks = rankIdsDescending(context.corpus.turns.map(({ id }) => id));
  }

  /** @throws ValidationError after `dispose()`. */
  async search(queries: QueryBatch, k: number, progress: StartProgress = ignoreProgress): Promise<Candidates> {
    if (this.#disposed) throw new ValidationError('index was disposed: graph; build a new index');
    const { corpus } = this.#context;
    assertQueries(queries, corpus.size, k);
    this.#prepared ??= prepareGraph(this.#context, this.#options);
    const prepared = await this.#prepared;
    const candidates = allocateCandidates(queries.cutoffs.length, k);
    const top = new TopSelection(k, this.#ranks);
    const stage = progress('graph', queries.cutoffs.length);
    const pause = createEventBreaks();
    let done = 0;
    for (const [list, members] of groupByVisibleList(queries)) {
      const isVisible = list === null ? null : markListed(list, corpus.size);
      for (const query of members) {
        this.#offerTurns(prepared, queries, query, isVisible, top);
        top.drainTo(candidates, query);
        stage.update(++done);
        await pause();
      }
    }
    stage.finish(`${done} queries`);
    return candidates;
  }

  /** Offers every turn with a score above 0. */
  #offerTurns(
    prepared: Prepared,
    { texts, cutoffs, seeds }: QueryBatch,
    query: number,
    isVisible: Uint8Array | null,
    top: TopSelection,
  ): void {
    const { adjacency, memoryOf, scorer } = prepared;
    const moment = new GraphMoment(adjacency, {
      asOf: cutoffs[query]!,
      visible: isVisible === null ? null : { isVisible, memoryOf },
      scalesMentions: this.#options.specificity === 'edges' || this.#options.specificity === 'both',
    });
    const placed = this.#placeSeeds(prepared, moment, texts[query]!, seeds?.[query] ?? null);
    const { nodes, values } = scorer.score(moment, placed, this.#options);
    for (const node of nodes) if (memoryOf[node]! >= 0 && values[node]! > 0) top.offer(memoryOf[node]!, values[node]!);
  }

  /** The weights of a query's seeds: turns as shares of the best, concepts by their specificity. */
  #placeSeeds(prepared: Prepared, moment: GraphMoment, text: string, turns: SeedTurns | null): Map<number, number> {
    const { seeds: wanted, specificity, passageWeight } = this.#options;
    const placed = new Map<number, number>();
    const add = (node: number, weight: number) => placed.set(node, (placed.get(node) ?? 0) + weight);
    // A concept that no visible turn mentions weighs 0 in any case.
    const weighConcept = (node: number) => {
      const share = moment.computeSpecificity(node);
      return share === 0 || specificity === 'seeds' || specificity === 'both' ? share : 1;
    };
    for (const { node, weight } of listSeedTurns(prepared, moment, turns, wanted.turns)) {
      add(node, passageWeight * weight);
      if (wanted.turnConcepts)
        moment.forEachNeighbour(node, (neighbour) => {
          if (prepared.memoryOf[neighbour]! < 0) add(neighbour, weight * weighConcept(neighbour));
        });
    }
    if (wanted.concepts)
      for (const concept of new Set(this.#listQueryConcepts(text))) {
        const node = prepared.conceptNodes.get(nameConceptNode(concept));
        if (node !== undefined && moment.has(node)) add(node, weighConcept(node));
      }
    if (wanted.titles) placeNamedTurns(prepared, moment, text, add);
    return placed;
  }

  dispose(): void {
    this.#disposed = true;
    this.#prepared = null;
  }
}

/** The heaviest visible seed turns, with weights relative to the heaviest; those of equal weight in the order given. */
function listSeedTurns(
  { memoryNodes }: WalkableGraph,
  moment: GraphMoment,
  turns: SeedTurns | null,
  most: number,
): { node: number; weight: number }[] {
  if (turns === null) return [];
  const visible = Array.from(turns.positions, (position, i) => ({
    node: memoryNodes[position]!,
    weight: turns.weights[i]!,
  })).filter(({ node, weight }) => weight > 0 && moment.has(node));
  const heaviest = visible.sort((a, b) => b.weight - a.weight).slice(0, most);
  return heaviest.map(({ node, weight }) => ({ node, weight: weight / heaviest[0]!.weight }));
}

/** A title weighs 1, as a concept that one turn mentions; the visible turns that have it share this. */
function placeNamedTurns(
  { graph, memoryNodes }: Prepared,
  moment: GraphMoment,
  text: string,
  add: (node: number, weight: number) => void,
): void {
  for (const turns of graph.findNamed(text)) {
    const visible = turns.map((position) => memoryNodes[position]!).filter((node) => moment.has(node));
    for (const node of visible) add(node, 1 / visible.length);
  }
}

function markListed(list: Int32Array, size: number): Uint8Array {
  const marks = new Uint8Array(size);
  for (const position of list) marks[position] = 1;
  return marks;
}

async function prepareGraph(
  { corpus, vectors, dimension, concepts }: Omit<IndexContext, 'seed'>,
  { edges, seeds, similarAbove }: GraphIndexOptions,
): Promise<Prepared> {
  const { turns } = corpus;
  const similar =
    edges.similar > 0 ? await loadSimilarTurns(corpus, vectors, dimension, similarAbove) : turns.map(() => new Map());
  const graph = new ConceptGraph(EDGE_KINDS.filter((kind) => edges[kind] > 0 || (kind === 'names' && seeds.titles)));
  const pause = createEventBreaks();
  for (const [position, turn] of turns.entries()) {
    const title = readTitle(turn);
    const listed = concepts?.[position] ?? listConcepts(turn.text, title);
    graph.insert([{ ...turn, title, concepts: listed, similar: similar[position]! }]);
    await pause();
  }
  const walkable = buildWalkableGraph(graph, edges);
  return { ...walkable, graph, scorer: new MomentScorer(walkable.adjacency.size) };
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

/** An index over the graph of a corpus. */
export const createGraphIndex: CreateIndex<GraphIndexOptions> = (options, context) => new GraphIndex(context, options);
