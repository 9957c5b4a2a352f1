import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ConceptGraph, nameConceptNode } from '../src/index/graph/concept-graph.ts';
import { GraphMoment } from '../src/index/graph/graph-moment.ts';
import { type MomentQuery, MomentScorer, type VisitScores } from '../src/index/graph/moment-scoring.ts';
import type { WalkableGraph } from '../src/index/graph/walkable-graph.ts';
import type { GraphIndexOptions, GraphSolver } from '../src/index/walks/graph-options.ts';
import { scoreTogether } from '../src/index/walks/moment-solvers.ts';
import type { QueryBatch } from '../src/model/candidates.ts';
import { DENSE_NODES } from '../src/ops/pagerank/dense-tensor-pagerank.ts';
import { summariseTimes } from './memory-index.ts';
import { type FoundPython, runPeer } from './peers/python.ts';
import { readProcessorSeconds } from './timing.ts';

/** Queries whose scores are compared; the times are of more. */
const COMPARED = 10;
/** Of push, besides the tolerance of an arm without options. */
const FINE = 1e-9;
/** Queries that are solved at once. */
const WIDTHS = [1, 32, 256];
/** Times of one batch, whose median counts. */
const REPEATS = 3;

/** PageRank of this project over all edges. */
export interface OwnWalks {
  readonly nodes: number;
  readonly edges: number;
  readonly rows: readonly Pick<WalkRow, 'name' | 'atOnce' | 'milliseconds' | 'queries'>[];
}

export interface WalkRow {
  readonly name: string;
  /** Queries that are solved together. */
  readonly atOnce: number;
  /** Making the program's graph of the edges; null for this project, whose graph is there. */
  readonly buildSeconds: number | null;
  /** Median. */
  readonly milliseconds: number;
  readonly queries: number;
  /** Mean share of the ten best nodes of this project's first row that are among the ten best. */
  readonly overlap: number;
  /** The largest difference of a score from that of power iteration until nothing changes. */
  readonly difference: number;
}

/** Seeds as the index places them: turns as shares of the best, concepts by their specificity. */
function placeSeeds(
  { memoryNodes, conceptNodes }: WalkableGraph,
  moment: GraphMoment,
  { seeds, concepts }: QueryBatch,
  { passageWeight }: GraphIndexOptions,
): Map<number, number> {
  const placed = new Map<number, number>();
  const turns = seeds?.[0];
  for (const [i, position] of turns?.positions.entries() ?? [])
    placed.set(memoryNodes[position]!, (passageWeight * turns!.weights[i]!) / turns!.weights[0]!);
  for (const concept of concepts?.[0] ?? []) {
    const node = conceptNodes.get(nameConceptNode(concept));
    if (node !== undefined) placed.set(node, moment.computeSpecificity(node));
  }
  return placed;
}

/** Writes the edges and the seeds of the queries for other programs, with the scores of this one. @returns the times of the latter. */
export async function writeWalks(
  folder: string,
  { graph }: ConceptGraph,
  walkable: WalkableGraph,
  queries: readonly QueryBatch[],
  options: GraphIndexOptions,
  seconds: number,
): Promise<OwnWalks> {
  const nodeOf = new Map<string, number>();
  graph.forEachNode((name) => nodeOf.set(name, nodeOf.size));
  const write = (name: string, values: Int32Array | Float64Array) => writeFileSync(join(folder, name), values);
  const ends = { sources: new Int32Array(graph.size), targets: new Int32Array(graph.size) };
  const weights = new Float64Array(graph.size);
  let edge = 0;
  graph.forEachEdge((_, { kind, weight }, source, target) => {
    ends.sources[edge] = nodeOf.get(source)!;
    ends.targets[edge] = nodeOf.get(target)!;
    weights[edge++] = weight * options.edges[kind];
  });
  write('sources.i32', ends.sources);
  write('targets.i32', ends.targets);
  write('weights.f64', weights);

  const moment = () => new GraphMoment(walkable.adjacency, { asOf: Number.POSITIVE_INFINITY });
  const placed = queries.map((query) => placeSeeds(walkable, moment(), query, options));
  const flat = placed.flatMap((seeds, query) => Array.from(seeds, ([node, weight]) => ({ query, node, weight })));
  write(
    'seed-queries.i32',
    Int32Array.from(flat, ({ query }) => query),
  );
  write(
    'seed-nodes.i32',
    Int32Array.from(flat, ({ node }) => node),
  );
  write(
    'seed-weights.f64',
    Float64Array.from(flat, ({ weight }) => weight),
  );

  const rows: OwnWalks['rows'][number][] = [];
  const whole = moment();
  const asked = placed.map((seeds): MomentQuery => ({ moment: whole, seeds }));
  const add = async (name: string, solve: SolveBatch, atOnce: number, count: number) => {
    const compared = Math.min(COMPARED, placed.length);
    const scores = new Float64Array(compared * nodeOf.size);
    await solve(asked.slice(0, compared), (query, { nodes, values }) => {
      for (const node of nodes) scores[query * nodeOf.size + node] = values[node]!;
    });
    write(`own-${rows.length}.f64`, scores);
    const milliseconds = await timeBatches(solve, moment, placed.slice(0, count), atOnce);
    rows.push({ name, atOnce, milliseconds, queries: count });
    return milliseconds;
  };
  const solveBy = (given: Partial<GraphIndexOptions>): SolveBatch => {
    const scorer = new MomentScorer(walkable.adjacency.size);
    return (batch, visit) => scoreTogether(scorer, batch, { ...options, ...given }, visit);
  };
  for (const tolerance of [options.tolerance, FINE])
    await add(
      `push, ${tolerance.toExponential(0)}`,
      solveBy({ tolerance }),
      1,
      tolerance === FINE ? Math.min(COMPARED, placed.length) : placed.length,
    );
  for (const solver of listBatchSolvers(nodeOf.size)) {
    const name = `${solver}, ${options.tolerance.toExponential(0)}`;
    let last = 0;
    for (const width of WIDTHS.filter((width) => width <= placed.length && (last * width) / 1000 < seconds))
      last = await add(name, solveBy({ solver }), width, width === 1 ? Math.min(COMPARED, placed.length) : width);
  }
  return { nodes: nodeOf.size, edges: graph.size, rows };
}

type SolveBatch = (queries: readonly MomentQuery[], visit: VisitScores) => Promise<void>;

function listBatchSolvers(nodes: number): GraphSolver[] {
  return nodes <= DENSE_NODES ? ['host', 'sparse-tensor', 'dense-tensor'] : ['host', 'sparse-tensor'];
}

/** Milliseconds of the processor for a query: the median of the batches, of {@link REPEATS} times a single batch. */
async function timeBatches(
  solve: SolveBatch,
  makeMoment: () => GraphMoment,
  placed: readonly ReadonlyMap<number, number>[],
  atOnce: number,
): Promise<number> {
  const times: number[] = [];
  const repeats = placed.length === atOnce ? REPEATS : 1;
  for (let repeat = 0; repeat < repeats; repeat++)
    for (let start = 0; start < placed.length; start += atOnce) {
      const moment = makeMoment();
      const batch = placed.slice(start, start + atOnce).map((seeds) => ({ moment, seeds }));
      const begin = readProcessorSeconds();
      await solve(batch, () => {});
      times.push((1000 * (readProcessorSeconds() - begin)) / batch.length);
    }
  return summariseTimes(times).p50;
}

/** The same seeds on the same edges by other programs, and how far all of them agree. @param seconds for the queries of each program. */
export function comparePeers(
  python: FoundPython,
  folder: string,
  { nodes, rows }: OwnWalks,
  peers: readonly string[],
  settings: { readonly damping: number; readonly seconds: number },
): WalkRow[] {
  const queries = rows[0]!.queries;
  const compared = Math.min(COMPARED, queries);
  const widths = WIDTHS.filter((width) => width > 1 && width <= queries);
  const task = { ...settings, nodes, queries, compared, widths, own: rows.length, peers };
  writeFileSync(join(folder, 'settings.json'), JSON.stringify(task));
  const { own, others } = runPeer<{ own: Pick<WalkRow, 'overlap' | 'difference'>[]; others: WalkRow[] }>(
    python,
    'graph_pagerank.py',
    folder,
  );
  return [...rows.map((row, i) => ({ ...row, buildSeconds: null, ...own[i]! })), ...others];
}
