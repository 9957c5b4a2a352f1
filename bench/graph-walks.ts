import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ConceptGraph, nameConceptNode } from '../src/index/graph/concept-graph.ts';
import { GraphMoment } from '../src/index/graph/graph-moment.ts';
import { MomentScorer } from '../src/index/graph/moment-scoring.ts';
import type { WalkableGraph } from '../src/index/graph/walkable-graph.ts';
import type { GraphIndexOptions } from '../src/index/walks/graph-options.ts';
import type { QueryBatch } from '../src/model/candidates.ts';
import { summariseTimes } from './memory-index.ts';
import { type FoundPython, runPeer } from './peers/python.ts';
import { readProcessorSeconds } from './timing.ts';

/** Queries whose scores are compared; the times are of more. */
const COMPARED = 10;
/** Of push, besides the tolerance of an arm without options. */
const FINE = 1e-9;

/** PageRank of this project over all edges, by tolerance. */
export interface OwnWalks {
  readonly nodes: number;
  readonly edges: number;
  readonly rows: readonly { readonly tolerance: number; readonly milliseconds: number; readonly queries: number }[];
}

export interface WalkRow {
  readonly name: string;
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
export function writeWalks(
  folder: string,
  { graph }: ConceptGraph,
  walkable: WalkableGraph,
  queries: readonly QueryBatch[],
  options: GraphIndexOptions,
): OwnWalks {
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

  const scorer = new MomentScorer(walkable.adjacency.size);
  const rows = [options.tolerance, FINE].map((tolerance, row) => {
    const asked = tolerance === FINE ? placed.slice(0, COMPARED) : placed;
    const scores = new Float64Array(Math.min(COMPARED, placed.length) * nodeOf.size);
    const times = asked.map((seeds, query) => {
      const start = readProcessorSeconds();
      const found = scorer.score(moment(), seeds, { ...options, tolerance });
      const time = 1000 * (readProcessorSeconds() - start);
      if (query < COMPARED) for (const node of found.nodes) scores[query * nodeOf.size + node] = found.values[node]!;
      return time;
    });
    write(`own-${row}.f64`, scores);
    return { tolerance, milliseconds: summariseTimes(times).p50, queries: asked.length };
  });
  return { nodes: nodeOf.size, edges: graph.size, rows };
}

/** The same seeds on the same edges by other programs, and how far all of them agree. @param seconds for the queries of each program. */
export function comparePeers(
  python: FoundPython,
  folder: string,
  { nodes, rows }: OwnWalks,
  peers: readonly string[],
  settings: { readonly damping: number; readonly seconds: number },
): WalkRow[] {
  const compared = Math.min(COMPARED, rows[0]!.queries);
  const task = { ...settings, nodes, queries: rows[0]!.queries, compared, own: rows.length, peers };
  writeFileSync(join(folder, 'settings.json'), JSON.stringify(task));
  const { own, others } = runPeer<{ own: Pick<WalkRow, 'overlap' | 'difference'>[]; others: WalkRow[] }>(
    python,
    'graph_pagerank.py',
    folder,
  );
  const named = rows.map(({ tolerance, milliseconds, queries }, i) => {
    return { name: `push, ${tolerance.toExponential(0)}`, buildSeconds: null, milliseconds, queries, ...own[i]! };
  });
  return [...named, ...others];
}
