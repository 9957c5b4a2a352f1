import { ValidationError } from '../../core/errors/errors.ts';
import { NodeQueue } from '../../ops/pagerank/push-pagerank.ts';
import type { GraphMoment } from './graph-moment.ts';

/**
 * Scores of few of many nodes, 0 for the others: reading and clearing them costs the nodes that were touched. For one
 * query after another.
 */
export class NodeScores {
  /** [V] */
  readonly values: Float64Array;
  /** The nodes that were touched, in the order in which they were. */
  readonly nodes: number[] = [];
  readonly #isTouched: Uint8Array;

  constructor(size: number) {
    this.values = new Float64Array(size);
    this.#isTouched = new Uint8Array(size);
  }

  /** @returns whether the node is touched for the first time. */
  add(node: number, score: number): boolean {
    this.values[node]! += score;
    if (this.#isTouched[node] === 1) return false;
    this.#isTouched[node] = 1;
    this.nodes.push(node);
    return true;
  }

  clear(): void {
    for (const node of this.nodes) {
      this.values[node] = 0;
      this.#isTouched[node] = 0;
    }
    this.nodes.length = 0;
  }
}

/** Takes in the scores of each query of a batch; they are valid until it returns. */
export type VisitScores = (query: number, scores: NodeScores) => void;

/**
 * Scores queries on graphs of one adjacency, and visits the scores of each.
 *
 * @throws what {@link MomentScorer.score} does.
 */
export type ScoreBatch<Options extends GraphScoringOptions = GraphScoringOptions> = (
  scorer: MomentScorer,
  queries: readonly MomentQuery[],
  options: Options,
  visit: VisitScores,
) => Promise<void>;

/** The nodes at which a query's walks start, with weights from 0. */
export type NodeSeeds = ReadonlyMap<number, number>;

/** A query on the graph as of its moment. */
export interface MomentQuery {
  readonly moment: GraphMoment;
  readonly seeds: NodeSeeds;
}

/** How nodes are scored by their place around the seeds. */
export interface GraphScoringOptions {
  readonly scoring: 'pagerank' | 'hop-decay' | 'degree';
  /** Of pagerank: the probability of following an edge rather than returning to the seeds. */
  readonly damping: number;
  /** Of pagerank: the error of a score, divided by the weight of the node's edges, that may remain. */
  readonly tolerance: number;
  /** Of hop-decay: what each hop multiplies by. */
  readonly decay: number;
  /** Of hop-decay and degree. */
  readonly maxHops: number;
}

/**
 * Scores the nodes around the seeds of one query after another, each on a graph as of the query's moment. Seeds that
 * are not visible are left out, the others normalised to sum 1. A query costs the edges that it touches, so that
 * neither later nodes nor far ones matter.
 */
export class MomentScorer {
  readonly #scores: NodeScores;
  readonly #others: NodeScores;
  readonly #next: NodeScores;
  /** [V] above which residual each touched node is pushed; 0 while no residual needed it. */
  readonly #limits: Float64Array;
  readonly #queue: NodeQueue;

  /** V, the nodes that there is room for. */
  readonly size: number;

  /** @param size V, the nodes of the graph, or more. */
  constructor(size: number) {
    this.size = size;
    this.#scores = new NodeScores(size);
    this.#others = new NodeScores(size);
    this.#next = new NodeScores(size);
    this.#limits = new Float64Array(size);
    this.#queue = new NodeQueue(size);
  }

  /**
   * @returns scores of the nodes that were touched, valid until the next call; none without a visible seed.
   * @throws ValidationError for a seed whose weight is negative or not finite.
   */
  score(moment: GraphMoment, seeds: NodeSeeds, options: GraphScoringOptions): NodeScores {
    this.#scores.clear();
    this.#others.clear();
    this.#next.clear();
    const shares = normaliseVisibleSeeds(moment, seeds);
    if (shares.length === 0) return this.#scores;
    if (options.scoring === 'pagerank') this.#push(moment, shares, options);
    else if (options.scoring === 'hop-decay') this.#decayByHops(moment, shares, options);
    else this.#sumDegrees(moment, shares, options);
    return this.#scores;
  }

  /**
   * Personalised PageRank by forward push (Andersen, Chung, Lang 2006): see {@link PushPageRank}, whose transition
   * matrix holds a whole graph. A node is pushed while its residual is above tolerance times its edges, so that at most
   * 1 / ((1 - damping) tolerance) edges are followed, however large the graph is. The residuals that stay give their
   * own share to the scores.
   */
  #push(moment: GraphMoment, shares: readonly Share[], { damping, tolerance }: GraphScoringOptions): void {
    const queue = this.#queue;
    const limits = this.#limits;
    const residuals = this.#others;
    const { values } = residuals;
    const receive = (node: number, residual: number) => {
      if (residuals.add(node, residual)) limits[node] = 0;
      if (values[node]! <= tolerance) return; // whatever its edges
      if (limits[node] === 0) limits[node] = tolerance * (1 + moment.countEdges(node));
      if (values[node]! > limits[node]!) queue.add(node);
    };
    const restart = (mass: number) => {
      for (const { node, share } of shares) receive(node, mass * share);
    };
    restart(1);
    while (queue.size > 0) {
      const node = queue.take();
      const residual = values[node]!;
      values[node] = 0;
      this.#scores.add(node, (1 - damping) * residual);
      const weight = moment.sumWeights(node);
      const sent = (damping * residual) / weight;
      if (weight === 0) restart(damping * residual);
      else moment.forEachNeighbour(node, (neighbour, edgeWeight) => receive(neighbour, sent * edgeWeight));
    }
    for (const node of residuals.nodes) this.#scores.add(node, (1 - damping) * values[node]!);
  }

  /** The sum over l = 0 … maxHops of decay^l (A^l s), A the weights of the edges. */
  #decayByHops(moment: GraphMoment, shares: readonly Share[], { decay, maxHops }: GraphScoringOptions): void {
    let [reached, next] = [this.#others, this.#next];
    for (const { node, share } of shares) reached.add(node, share);
    for (let hop = 0; reached.nodes.length > 0; hop++) {
      const { nodes, values } = reached;
      for (const node of nodes) this.#scores.add(node, values[node]!);
      if (hop === maxHops) return;
      for (const node of nodes) {
        const sent = decay * values[node]!;
        moment.forEachNeighbour(node, (neighbour, weight) => next.add(neighbour, sent * weight));
      }
      reached.clear();
      [reached, next] = [next, reached];
    }
  }

  /** The weighted degree of each node within maxHops of a seed. */
  #sumDegrees(moment: GraphMoment, shares: readonly Share[], { maxHops }: GraphScoringOptions): void {
    const near = this.#others;
    for (const { node } of shares) near.add(node, 1);
    for (let hop = 0, begin = 0; hop < maxHops && begin < near.nodes.length; hop++) {
      const end = near.nodes.length;
      for (; begin < end; begin++)
        moment.forEachNeighbour(near.nodes[begin]!, (neighbour) => void near.add(neighbour, 1));
    }
    for (const node of near.nodes) this.#scores.add(node, moment.sumWeights(node));
  }
}

/** A seed, and its share in the weights of all seeds. */
export interface Share {
  readonly node: number;
  readonly share: number;
}

/**
 * The visible seeds with weights above 0; none for a query without one.
 *
 * @throws ValidationError for a weight that is negative or not finite.
 */
export function normaliseVisibleSeeds(moment: GraphMoment, seeds: NodeSeeds): Share[] {
  const visible: Share[] = [];
  for (const [node, share] of seeds) {
    if (!(share >= 0 && share < Number.POSITIVE_INFINITY))
      throw new ValidationError(`weight of a seed is negative or not finite: ${share}; pass a number from 0`, { node });
    if (share > 0 && moment.has(node)) visible.push({ node, share });
  }
  const total = visible.reduce((sum, { share }) => sum + share, 0);
  return visible.map(({ node, share }) => ({ node, share: share / total }));
}

/** Scores one query after the other, each at the cost of what its walks touch. */
export const scoreOneByOne: ScoreBatch = async (scorer, queries, options, visit) => {
  for (const [i, { moment, seeds }] of queries.entries()) visit(i, scorer.score(moment, seeds, options));
};
