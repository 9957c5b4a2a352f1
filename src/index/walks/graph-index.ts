import { ValidationError } from '../../core/errors/errors.ts';
import { createRandom } from '../../core/numbers/random.ts';
import { createEventBreaks, ignoreProgress, type StartProgress } from '../../core/terminal/progress.ts';
import type { Candidates, QueryBatch, SeedTurns } from '../../model/candidates.ts';
import type { CreateIndex, GrowingIndex, IndexContext, ScorePairs } from '../candidates/index-definition.ts';
import {
  allocateCandidates,
  assertPairs,
  assertQueries,
  groupByVisibleList,
  markListed,
} from '../candidates/query-batch.ts';
import { TopSelection } from '../candidates/top-selection.ts';
import { nameConceptNode } from '../graph/concept-graph.ts';
import { chooseTextSource } from '../graph/extraction/concept-source.ts';
import { GraphMoment, KeptGraphs, listConcepts, readTitle } from '../graph/graph-moment.ts';
import { MomentScorer, type NodeScores, type ScoreBatch, scoreOneByOne } from '../graph/moment-scoring.ts';
import type { KindedEdges } from '../graph/temporal-adjacency.ts';
import { buildWalkableGraph, type WalkableGraph } from '../graph/walkable-graph.ts';
import { buildConceptGraph, keepConceptGraph, keepWalkableGraph } from './concept-graphs.ts';
import type { GraphIndexOptions } from './graph-options.ts';
import { allocateGraphPairs, fillGraphPairs, type GraphPairs, type QueryOnGraph } from './graph-pairs.ts';

/**
 * Null control `random-graph`: the edges that exist at a moment exchange their targets at random, those of each kind
 * among themselves (the configuration model, in which an edge may join a node with itself, and two edges the same
 * nodes). Each node keeps the number of its edges of each kind, at the sources and at the targets. Later edges are left
 * out and affect nothing.
 */
export function permuteTargets(edges: KindedEdges, asOf: number, seed: number): KindedEdges {
  const present = Array.from(edges.times.keys()).filter((edge) => edges.times[edge]! < asOf);
  const targetOf = new Int32Array(edges.targets);
  for (const kind of new Set(present.map((edge) => edges.kinds[edge]!))) {
    const members = present.filter((edge) => edges.kinds[edge] === kind);
    const drawn = createRandom(seed, `random-graph/${kind}/${asOf}`).shuffle([...members]);
    for (const [i, edge] of members.entries()) targetOf[edge] = edges.targets[drawn[i]!]!;
  }
  const pick = <T extends Int32Array | Float64Array | Uint8Array>(values: T): T =>
    values.filter((_, edge) => edges.times[edge]! < asOf) as T;
  return {
    nodeTimes: edges.nodeTimes,
    sources: pick(edges.sources),
    targets: pick(targetOf),
    weights: pick(edges.weights),
    ...(edges.reverseWeights && { reverseWeights: pick(edges.reverseWeights) }),
    times: pick(edges.times),
    isMention: pick(edges.isMention),
    ...(edges.isAlias && { isAlias: pick(edges.isAlias) }),
    kinds: present.map((edge) => edges.kinds[edge]!),
  };
}

/**
 * Null control `shuffled-titles`: the titles that there are at a moment, exchanged at random among the memories that
 * have one.
 *
 * @param titles [memories], null for none.
 */
export function shuffleTitles(titles: readonly (string | null)[], asOf: number, seed: number): (string | null)[] {
  const present = titles.slice(0, asOf);
  const titled = Array.from(present.keys()).filter((memory) => present[memory] !== null);
  const drawn = createRandom(seed, `shuffled-titles/${asOf}`).shuffle([...titled]);
  const shuffled = [...present];
  for (const [i, memory] of titled.entries()) shuffled[memory] = present[drawn[i]!]!;
  return shuffled;
}

/** The inputs of an index. */
type GraphContext = Omit<IndexContext, 'seed'>;

/** The graph of a corpus, with room for the scores of one query. */
interface PreparedGraph {
  readonly walkable: WalkableGraph;
  readonly scorer: MomentScorer;
}

/**
 * The graph of a corpus for the queries of an index, built when it is asked for: one for all moments, and in a null
 * control one for each, drawn as of the moment.
 */
class PreparedGraphs {
  #context: GraphContext;
  readonly #options: GraphIndexOptions;
  #graphs: KeptGraphs;
  #last: { readonly asOf: number; readonly prepared: Promise<PreparedGraph> } | null = null;
  /** The graph for all moments, of the turns that there were when it was asked for. */
  #walkable: WalkableGraph | null = null;
  #scorer: MomentScorer | null = null;

  constructor(context: GraphContext, options: GraphIndexOptions) {
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
    const walkable = await this.#build(asOf);
    const { size } = walkable.adjacency;
    if (this.#scorer === null) this.#scorer = new MomentScorer(size);
    else if (this.#scorer.size < size) this.#scorer = new MomentScorer(2 * size);
    return { walkable, scorer: this.#scorer };
  }

  async #build(asOf: number): Promise<WalkableGraph> {
    const context = this.#context;
    const options = this.#options;
    const { control, corpus } = context;
    if (control === undefined) {
      this.#walkable = await keepWalkableGraph(this.#graphs, context, options, this.#walkable);
      return this.#walkable;
    }
    if (control.kind === 'shuffled-titles') {
      const titles = shuffleTitles(corpus.turns.map(readTitle), asOf, control.seed);
      return buildWalkableGraph(await buildConceptGraph(context, options, titles), options.edges);
    }
    const disturb = (edges: KindedEdges) => permuteTargets(edges, asOf, control.seed);
    return buildWalkableGraph(await keepConceptGraph(this.#graphs, context, options), options.edges, disturb);
  }

  /** @param context with later turns, which the graph gets when it is asked for. */
  growWith(context: GraphContext): void {
    this.#context = context;
    this.#graphs = context.graphs ?? this.#graphs;
    this.#last = null;
  }

  clear(): void {
    this.#graphs = new KeptGraphs();
    this.#last = null;
    this.#walkable = null;
  }
}

/** Queries whose scores are computed together, where the solver is not `push`. */
const MOST_TOGETHER = 256;
/** Nodes of all moments of these queries, each of which may keep its specificity: some 200 MB. */
const MOST_NODES = 2 ** 22;

/** A query on the graph of its moment. */
interface PlacedQuery extends PreparedGraph {
  readonly query: number;
  readonly moment: GraphMoment;
}

/** What a query gives for its seeds. */
interface AskedQuery {
  readonly text: string;
  readonly turns: SeedTurns | null;
  readonly listConcepts: () => readonly string[];
}

/**
 * The turns around the seeds of a query, on a {@link ConceptGraph} of the corpus as of the query's moment: what exists
 * later and what is hidden is not there for its walks. Seeds are the turns that other sources found
 * (`QueryBatch.seeds`), the concepts of the query and the turns whose titles it holds; a query whose seeds are not in
 * the graph finds nothing.
 *
 * The graph is built with the first search, and takes in later turns: each costs what it brings, and a look at the
 * vectors of all turns, or of all concepts, where edges follow their cosines. A query costs what its walks touch.
 */
export class GraphIndex implements GrowingIndex {
  readonly name = 'graph';
  #context: GraphContext;
  readonly #options: GraphIndexOptions;
  readonly #listQueryConcepts: (text: string) => readonly string[];
  readonly #graphs: PreparedGraphs;
  #disposed = false;

  /** @param listQueryConcepts of the text of a query, as those of the turns are; of a batch without `concepts`. */
  constructor(
    context: GraphContext,
    options: GraphIndexOptions,
    listQueryConcepts: (text: string) => readonly string[] = (text) =>
      listConcepts(text, null, chooseTextSource(options.concepts)),
  ) {
    this.#context = context;
    this.#options = options;
    this.#graphs = new PreparedGraphs(context, options);
    this.#listQueryConcepts = listQueryConcepts;
  }

  async growWith(context: GraphContext): Promise<void> {
    this.#context = context;
    this.#graphs.growWith(context);
  }

  /** @throws ValidationError after `dispose()`. */
  async search(queries: QueryBatch, k: number, progress: StartProgress = ignoreProgress): Promise<Candidates> {
    this.#assertUsable();
    const { corpus } = this.#context;
    assertQueries(queries, corpus.size, k);
    const candidates = allocateCandidates(queries.cutoffs.length, k);
    const top = new TopSelection(k, corpus.compareTies);
    const place = ({ query, walkable, moment }: PlacedQuery) => ({
      seeds: this.#placeSeeds(walkable, moment, this.#readQuery(queries, query)),
    });
    await this.#scoreQueries(queries, progress, this.#options, place, ({ query, walkable }, { nodes, values }) => {
      const { memoryOf } = walkable;
      for (const node of nodes)
        if (memoryOf[node]! >= 0 && values[node]! > 0) top.offer(memoryOf[node]!, values[node]!);
      top.drainTo(candidates, query);
    });
    return candidates;
  }

  /**
   * What given turns are on the graph at each query's time: see {@link GraphPairs}.
   *
   * @throws ValidationError also after `dispose()`.
   */
  readonly scorePairs: ScorePairs<GraphPairs> = async (queries, positions, width, progress = ignoreProgress) => {
    this.#assertUsable();
    assertPairs(queries, positions, width);
    const pairs = allocateGraphPairs(positions.length);
    const place = ({ query, walkable, moment }: PlacedQuery): QueryOnGraph => {
      const asked = this.#readQuery(queries, query);
      return {
        seeds: this.#placeSeeds(walkable, moment, asked),
        seedTurns: listSeedTurns(walkable, moment, asked.turns, this.#options.seeds.turns).map(({ node }) => node),
        concepts: [...findConceptNodes(walkable, moment, asked.listConcepts()).keys()],
      };
    };
    const options: GraphIndexOptions = { ...this.#options, scoring: 'pagerank' };
    await this.#scoreQueries(queries, progress, options, place, (placed, scores) => {
      const { query, walkable, moment } = placed;
      const row = positions.subarray(query * width, (query + 1) * width);
      fillGraphPairs(walkable, moment, placed, scores, row, pairs, query * width);
    });
    return pairs;
  };

  #assertUsable(): void {
    if (this.#disposed) throw new ValidationError('index was disposed: graph; build a new index');
  }

  /** Scores queries by their seeds, each on the graph as of its moment, and calls `visit` with the scores of each. */
  async #scoreQueries<Placed extends Pick<QueryOnGraph, 'seeds'>>(
    queries: QueryBatch,
    progress: StartProgress,
    options: GraphIndexOptions,
    place: (query: PlacedQuery) => Placed,
    visit: (query: PlacedQuery & Placed, scores: NodeScores) => void,
  ): Promise<void> {
    const { solver = 'push' } = options;
    const [score, most] = solver === 'push' ? [scoreOneByOne, 1] : [await loadTogether(), MOST_TOGETHER];
    const stage = progress('graph', queries.cutoffs.length);
    let done = 0;
    const waiting: (PlacedQuery & Placed)[] = [];
    const moments = new Set<GraphMoment>();
    const flush = async () => {
      const batch = waiting.splice(0);
      moments.clear();
      if (batch.length === 0) return;
      await score(batch[0]!.scorer, batch, options, (i, scores) => {
        visit(batch[i]!, scores);
        stage.update(++done);
      });
    };
    for await (const placed of this.#listPlaced(queries)) {
      if (waiting.length > 0 && waiting[0]!.walkable !== placed.walkable) await flush();
      waiting.push({ ...placed, ...place(placed) });
      moments.add(placed.moment);
      if (waiting.length === most || moments.size * placed.walkable.adjacency.size > MOST_NODES) await flush();
    }
    await flush();
    stage.finish(`${done} queries`);
  }

  /** The queries that see the same turns one after the other, by their moments, which queries of one time share. */
  async *#listPlaced(queries: QueryBatch): AsyncGenerator<PlacedQuery> {
    const { specificity } = this.#options;
    const scalesMentions = specificity === 'edges' || specificity === 'both';
    const pause = createEventBreaks();
    for (const [list, members] of groupByVisibleList(queries)) {
      const isVisible = list === null ? null : markListed(list, this.#context.corpus.size);
      let moment: GraphMoment | null = null;
      for (const query of members.sort((a, b) => queries.cutoffs[a]! - queries.cutoffs[b]! || a - b)) {
        const asOf = queries.cutoffs[query]!;
        const prepared = await this.#graphs.get(asOf);
        const { adjacency, memoryOf } = prepared.walkable;
        if (moment?.asOf !== asOf || moment.adjacency !== adjacency)
          moment = new GraphMoment(adjacency, {
            asOf,
            visible: isVisible === null ? null : { isVisible, memoryOf },
            scalesMentions,
          });
        yield { ...prepared, query, moment };
        await pause();
      }
    }
  }

  #readQuery({ texts, seeds, concepts }: QueryBatch, query: number): AskedQuery {
    const text = texts[query]!;
    return {
      text,
      turns: seeds?.[query] ?? null,
      listConcepts: () => concepts?.[query] ?? this.#listQueryConcepts(text),
    };
  }

  /** The weights of a query's seeds: turns as shares of the best, concepts by their specificity. */
  #placeSeeds(walkable: WalkableGraph, moment: GraphMoment, { text, turns, listConcepts: list }: AskedQuery) {
    const { seeds: wanted, specificity, passageWeight } = this.#options;
    const placed = new Map<number, number>();
    const add = (node: number, weight: number) => placed.set(node, (placed.get(node) ?? 0) + weight);
    // A concept that no visible turn mentions weighs 0 in any case.
    const weighConcept = (node: number) => {
      const share = moment.computeSpecificity(node);
      return share === 0 || specificity === 'seeds' || specificity === 'both' ? share : 1;
    };
    for (const { node, weight } of listSeedTurns(walkable, moment, turns, wanted.turns)) {
      add(node, passageWeight * weight);
      if (wanted.turnConcepts)
        moment.forEachNeighbour(node, (neighbour) => {
          if (walkable.memoryOf[neighbour]! < 0) add(neighbour, weight * weighConcept(neighbour));
        });
    }
    if (wanted.concepts)
      for (const [node, weight] of findConceptNodes(walkable, moment, list())) add(node, weight * weighConcept(node));
    if (wanted.titles) placeNamedTurns(walkable, moment, text, add);
    return placed;
  }

  dispose(): void {
    this.#disposed = true;
    this.#graphs.clear();
  }
}

/**
 * The nodes of concepts that are there at a moment, each with weight 1; in place of a concept that no visible turn
 * mentions its spellings, with their similarity.
 */
function findConceptNodes(
  { conceptNodes, graph }: WalkableGraph,
  moment: GraphMoment,
  concepts: readonly string[],
): Map<number, number> {
  const found = new Map<number, number>();
  const find = (form: string, weight: number): boolean => {
    const node = conceptNodes.get(nameConceptNode(form));
    if (node === undefined || !moment.has(node)) return false;
    found.set(node, Math.max(weight, found.get(node) ?? 0));
    return moment.computeSpecificity(node) > 0;
  };
  for (const concept of new Set(concepts))
    if (!find(concept, 1)) for (const { form, similarity } of graph.findAliases(concept)) find(form, similarity);
  return found;
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
  { graph, memoryNodes }: WalkableGraph,
  moment: GraphMoment,
  text: string,
  add: (node: number, weight: number) => void,
): void {
  for (const turns of graph.findNamed(text)) {
    const visible = turns.map((position) => memoryNodes[position]!).filter((node) => moment.has(node));
    for (const node of visible) add(node, 1 / visible.length);
  }
}

async function loadTogether(): Promise<ScoreBatch<GraphIndexOptions>> {
  return (await import('./moment-solvers.ts')).scoreTogether;
}

/** An index over the graph of a corpus. */
export const createGraphIndex: CreateIndex<GraphIndexOptions> = (options, context) => new GraphIndex(context, options);
