import { NotFiniteError } from '../../core/errors/errors.ts';
import { activeBackend, type BackendName, ensureBackend, loadOnBackend } from '../../core/tensors/backend.ts';
import { iterateInPlace } from '../../ops/pagerank/in-place-iteration.ts';
import { allocateResult, countWalkSteps } from '../../ops/pagerank/pagerank-solver.ts';
import { placeSeeds } from '../../ops/pagerank/seed-distribution.ts';
import {
  type MomentQuery,
  NodeScores,
  normaliseVisibleSeeds,
  type ScoreBatch,
  scoreOneByOne,
} from '../graph/moment-scoring.ts';
import {
  countRoom,
  gatherMomentWalks,
  groupByMoment,
  markDangling,
  readIncoming,
  type SolveQueries,
  type StartedQuery,
} from '../graph/moment-walks.ts';
import { type GraphIndexOptions, type GraphSolver, TENSOR_TOLERANCE } from './graph-options.ts';

/** The factor of the tolerance for `host`, and the smallest tolerance that float64 reaches. */
const [HOST_FACTOR, HOST_TOLERANCE] = [1e-6, 1e-13];

/**
 * Power iteration in float64, eight queries at a time. A moment costs its graph, read once, and then at most some
 * log(tolerance / 2) / log(damping) times its edges for each query.
 *
 * In place, nodes of one exact score differ by the error that remains. The iteration therefore goes on to a millionth
 * of the tolerance, so that their float32 scores are ties.
 */
const solveOnHost: SolveQueries = async (queries, { damping, tolerance: given }, keep) => {
  const tolerance = Math.min(given, Math.max(HOST_TOLERANCE, HOST_FACTOR * given));
  const change = damping === 0 ? Number.POSITIVE_INFINITY : (tolerance * (1 - damping)) / damping; // whose error bound is the tolerance
  const maxIterations = 10 + 2 * countWalkSteps({ damping, tolerance });
  for (const [moment, members] of groupByMoment(queries)) {
    const starts = members.map(({ shares }) => shares);
    const walks = gatherMomentWalks([moment], starts, damping);
    const size = walks.nodes.length;
    const result = allocateResult(members.length, size);
    for (const [i, seeds] of walks.seeds.entries())
      placeSeeds(seeds, 1, result.scores.subarray(i * size, (i + 1) * size));
    const marks = markDangling(walks);
    const dangling = Int32Array.from(marks.keys()).filter((position) => marks[position] === 1);
    const walk = { damping, incoming: readIncoming(walks), dangling };
    const options = { damping, tolerance: change, maxIterations };
    await iterateInPlace('host', walk, options, walks.seeds, [...members.keys()], result);
    for (const [i, member] of members.entries()) keep(member, walks.nodes, result.scores, i * size, 1);
  }
};

const loadTensors = () => loadOnBackend(() => import('./moment-tensors.ts'));

const SOLVERS: Readonly<Record<Exclude<GraphSolver, 'push' | 'auto'>, () => Promise<SolveQueries>>> = {
  host: async () => solveOnHost,
  'sparse-tensor': async () => (await loadTensors()).solveSparse,
  'dense-tensor': async () => (await loadTensors()).solveDense,
};

/** Facts that the choice of `auto` depends on. */
export interface SolverChoice {
  readonly backend: BackendName;
  /** Nodes and entries of the adjacency that exist at the last moment of the batch; an edge has two entries. */
  readonly nodes: number;
  readonly entries: number;
  /** Queries of the batch, and their moments. */
  readonly queries: number;
  readonly moments: number;
  readonly tolerance: number;
}

/** Backends that compute on a card. */
const CARDS: readonly BackendName[] = ['cuda', 'webgpu'];
/** Numbers that a step of a card should have at least: below, the card waits for its launches. */
const CARD_WORK = 2 ** 20;
/** Nodes whose full matrix, 64 MiB, a card multiplies in less time than it gathers edges. */
const CARD_DENSE_NODES = 4096;
/** Queries of a moment that are worth reading its whole graph on the processor, and the most entries of it. */
const [HOST_QUERIES, HOST_ENTRIES] = [8, 2 ** 19];

/**
 * The solver that `auto` takes for a batch, from what is known before the batch is computed: the same batch on the same
 * backend has the same one.
 *
 * * On a card, where tensors can keep the tolerance and a step has at least 2^20 numbers (entries × queries):
 *   `dense-tensor` for queries of one moment with at most 4,096 nodes, else `sparse-tensor`.
 * * Otherwise `host`, where a moment has at least 8 queries and at most 2^19 entries.
 * * Otherwise `push`.
 */
export function chooseSolver(choice: SolverChoice): Exclude<GraphSolver, 'auto'> {
  const { backend, nodes, entries, queries, moments, tolerance } = choice;
  if (CARDS.includes(backend) && tolerance >= TENSOR_TOLERANCE && entries * queries >= CARD_WORK)
    return moments === 1 && nodes <= CARD_DENSE_NODES ? 'dense-tensor' : 'sparse-tensor';
  return queries >= HOST_QUERIES * moments && entries <= HOST_ENTRIES ? 'host' : 'push';
}

async function chooseForBatch(queries: readonly MomentQuery[], tolerance: number) {
  await ensureBackend();
  const moments = [...new Set(queries.map(({ moment }) => moment))];
  const room = countRoom(moments);
  return chooseSolver({
    backend: activeBackend(),
    nodes: room.reduce((count, edges) => count + Math.sign(edges), 0),
    entries: room.reduce((sum, edges) => sum + edges, 0),
    queries: queries.length,
    moments: moments.length,
    tolerance,
  });
}

/**
 * Scores queries together by the solver of the options, each on the graph as of its moment. Queries of one moment share
 * its graph, which is read once: O(V + E), a step of a walk. The scores are within `tolerance` (L1) of the exact ones.
 *
 * @throws ValidationError for a seed whose weight is negative or not finite, and for a graph that is too large for
 *   `dense-tensor`; NotFiniteError for a score that is no number.
 */
export const scoreTogether: ScoreBatch<GraphIndexOptions> = async (scorer, queries, options, visit) => {
  const { solver: given = 'push', tolerance } = options;
  const solver = given === 'auto' && queries.length > 0 ? await chooseForBatch(queries, tolerance) : given;
  if (solver === 'push' || solver === 'auto') return scoreOneByOne(scorer, queries, options, visit);
  const scores = new NodeScores(queries[0]?.moment.adjacency.size ?? 0);
  const started: StartedQuery[] = [];
  for (const [query, { moment, seeds }] of queries.entries()) {
    const shares = normaliseVisibleSeeds(moment, seeds);
    if (shares.length > 0) started.push({ query, moment, shares });
    else visit(query, scores); // without a node
  }
  const solve = await SOLVERS[solver]();
  await solve(started, options, ({ query }, nodes, ranks, first, stride) => {
    scores.clear();
    for (const [position, node] of nodes.entries()) {
      const rank = ranks[first + position * stride]!;
      if (!Number.isFinite(rank)) throw new NotFiniteError('score', `node ${node} of query ${query}`, rank);
      if (rank > 0) scores.add(node, rank);
    }
    visit(query, scores);
  });
};
