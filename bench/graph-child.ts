import { createHash } from 'node:crypto';
import { type BackendChoice, useBackend } from '../src/core/tensors/backend.ts';
import { ConceptGraph, EDGE_KINDS, type EdgeKind } from '../src/index/graph/concept-graph.ts';
import { KeptGraphs, listConcepts, readTitle } from '../src/index/graph/graph-moment.ts';
import { buildWalkableGraph, type WalkableGraph } from '../src/index/graph/walkable-graph.ts';
import { keepConceptGraph, keepWalkableGraph } from '../src/index/walks/concept-graphs.ts';
import { GraphIndex } from '../src/index/walks/graph-index.ts';
import { type GraphIndexOptions, graph as graphDefinition } from '../src/index/walks/graph-options.ts';
import { Bm25Index } from '../src/index/words/bm25.ts';
import type { Candidates, QueryBatch } from '../src/model/candidates.ts';
import { Corpus } from '../src/model/turns/corpus.ts';
import { fuseSeedTurns } from '../src/rank/signals/turn-concepts.ts';
import { type OwnWalks, writeWalks } from './graph-walks.ts';
import { summariseTimes } from './memory-index.ts';
import { drawNamedThreads, type NamedQuery } from './named-threads.ts';
import { collectGarbage, readPeakMemoryBytes } from './peak-memory.ts';
import { readProcessorSeconds } from './timing.ts';

/** The concept graph of made-up threads in a process of its own. */
export interface GraphTask {
  /** N. */
  readonly size: number;
  readonly queries: number;
  readonly seed: number;
  /** Kinds of edges besides those of an arm without options. */
  readonly also: readonly EdgeKind[];
  /** The backend of the solvers with tensors. */
  readonly backend: BackendChoice;
  /** That a solver may take for a batch, about. */
  readonly seconds: number;
  /** Where the graph and the seeds of the queries are written for the peers. */
  readonly folder: string;
}

type Times = ReturnType<typeof summariseTimes>;

/** Seconds of the processor, bytes a memory, milliseconds of the processor of queries and insertions. */
export interface GraphFigures {
  readonly size: number;
  readonly tagSeconds: number;
  readonly insertSeconds: number;
  readonly arraySeconds: number;
  readonly bm25Seconds: number;
  readonly nodes: { readonly memories: number; readonly concepts: number };
  readonly edges: Readonly<Partial<Record<EdgeKind, number>>>;
  /** The edges of the node that has most. */
  readonly largestDegree: number;
  readonly graphBytes: number;
  readonly arrayBytes: number;
  readonly insertion: Times;
  /** Means of the operations of an insertion: the first {@link INSERTIONS} and the last. */
  readonly operations: { readonly first: number; readonly last: number };
  /** True if the graph that grew by one memory at a time equals a rebuilt one. */
  readonly isRebuilt: boolean;
  /** By what was asked. */
  readonly asked: Readonly<Record<string, Times>>;
  readonly walks: OwnWalks;
  readonly peakBytes: number;
}

/** At either end of the growth. */
export const INSERTIONS = 1000;
const K = 100;

function log(text: string): void {
  process.stderr.write(`  ${text}\n`);
}

async function timeSeconds<T>(name: string, work: () => T | Promise<T>): Promise<{ seconds: number; result: T }> {
  const start = readProcessorSeconds();
  const result = await work();
  const seconds = readProcessorSeconds() - start;
  log(`${name}: ${seconds.toFixed(1)} s`);
  return { seconds, result };
}

/** Bytes that live objects and arrays of this process hold. */
function readHeldBytes(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

function hashArrays({ adjacency, memoryNodes, memoryOf, conceptNodes }: WalkableGraph): string {
  const { nodeTimes, offsets, neighbours, times, weights, mentions } = adjacency;
  const hash = createHash('sha256');
  for (const part of [nodeTimes, offsets, neighbours, times, weights, mentions, memoryNodes, memoryOf])
    hash.update(part);
  for (const [name, node] of conceptNodes) hash.update(`${name} ${node}\n`);
  return hash.digest('hex');
}

/** Takes the memories in one after the other. */
function growGraph({ turns }: Corpus, concepts: readonly (readonly string[])[], options: GraphIndexOptions) {
  const kinds = EDGE_KINDS.filter((kind) => options.edges[kind] > 0);
  const graph = new ConceptGraph(kinds, options.aliasAbove);
  const times = new Float64Array(turns.length);
  const operations = new Float64Array(turns.length);
  for (const [i, turn] of turns.entries()) {
    const memory = { ...turn, title: readTitle(turn), concepts: concepts[i] as readonly string[] };
    const before = graph.operations;
    const start = readProcessorSeconds();
    graph.insert([memory]);
    times[i] = 1000 * (readProcessorSeconds() - start);
    operations[i] = graph.operations - before;
  }
  const mean = (values: Float64Array) => values.reduce((sum, value) => sum + value, 0) / values.length;
  return {
    graph,
    insertion: summariseTimes([...times.subarray(-INSERTIONS)]),
    operations: { first: mean(operations.subarray(0, INSERTIONS)), last: mean(operations.subarray(-INSERTIONS)) },
  };
}

function countEdges({ graph }: ConceptGraph): Partial<Record<EdgeKind, number>> {
  const counts: Partial<Record<EdgeKind, number>> = {};
  graph.forEachEdge((_, { kind }) => {
    counts[kind] = (counts[kind] ?? 0) + 1;
  });
  return counts;
}

const asBatch = ({ text, cutoff }: NamedQuery): QueryBatch => {
  return { texts: [text], vectors: new Float32Array(0), cutoffs: Int32Array.of(cutoff) };
};

/** Calls `ask` with each query, first some of them untimed, so that all are asked of compiled code. */
async function timeQueries<T>(queries: readonly NamedQuery[], ask: (query: NamedQuery, i: number) => Promise<T>) {
  for (const [i, query] of queries.slice(0, 20).entries()) await ask(query, i);
  const times: number[] = [];
  const results: T[] = [];
  for (const [i, query] of queries.entries()) {
    const start = readProcessorSeconds();
    results.push(await ask(query, i));
    times.push(1000 * (readProcessorSeconds() - start));
  }
  return { times: summariseTimes(times), results };
}

/** Each query as of its time: by bm25 alone, by each scoring of the graph from what bm25 found, and by both with their fusion. */
async function askQueries(
  corpus: Corpus,
  bm25: Bm25Index,
  queries: readonly NamedQuery[],
  openIndex: (given: object) => GraphIndex,
  { seeds }: GraphIndexOptions,
) {
  const fuse = (lists: readonly Candidates[], turns: number) => fuseSeedTurns(lists, 1, { ...seeds, turns }, corpus);
  const asked: Record<string, Times> = {};
  const lexical = await timeQueries(queries, (query) => bm25.search(asBatch(query), K));
  asked.bm25 = lexical.times;
  const seeded = queries.map((query, i) => {
    const [turns] = fuse([lexical.results[i] as Candidates], seeds.turns);
    return { ...asBatch(query), seeds: [turns ?? null], concepts: [listConcepts(query.text)] };
  });
  for (const scoring of ['pagerank', 'hop-decay', 'degree']) {
    const index = openIndex({ scoring });
    const { times } = await timeQueries(queries, (_, i) => index.search(seeded[i] as QueryBatch, K));
    asked[scoring] = times;
    log(`${scoring}: ${times.p50.toFixed(2)} ms`);
    index.dispose();
  }
  const index = openIndex({});
  const arm = await timeQueries(queries, async (query) => {
    const found = await bm25.search(asBatch(query), K);
    const walked = await index.search({ ...asBatch(query), seeds: fuse([found], seeds.turns) }, K);
    return fuse([found, walked], K);
  });
  asked['bm25 + graph'] = arm.times;
  return { asked, seeded };
}

async function measureGraph({
  size,
  queries: count,
  seed,
  also,
  folder,
  backend,
  seconds,
}: GraphTask): Promise<GraphFigures> {
  const given = { index: 'graph', edges: Object.fromEntries(also.map((kind) => [kind, 1])) };
  const describe = (more: object) => graphDefinition.options.parse({ ...given, ...more });
  const options = describe({});
  const { turns, queries } = drawNamedThreads(size, count, seed);
  const corpus = new Corpus(turns);
  const tagged = await timeSeconds('concepts', () => turns.map((turn) => listConcepts(turn.text, readTitle(turn))));
  const concepts = tagged.result;
  const bytes = [readHeldBytes()];
  let grown: ReturnType<typeof growGraph> | null = growGraph(corpus, concepts, options);
  const { insertion, operations } = grown;
  bytes.push(readHeldBytes());
  const edges = countEdges(grown.graph);
  const grownHash = hashArrays(buildWalkableGraph(grown.graph, options.edges));
  grown = null;
  collectGarbage();

  const graphs = new KeptGraphs();
  const context = { corpus, vectors: new Float32Array(0), dimension: 0, concepts, graphs };
  const built = await timeSeconds('graph', () => keepConceptGraph(graphs, context, options));
  const held = readHeldBytes();
  const arrays = await timeSeconds('arrays', () => keepWalkableGraph(graphs, context, options));
  bytes.push(readHeldBytes() - held);
  const { adjacency } = arrays.result;
  const isRebuilt = hashArrays(arrays.result) === grownHash;

  const ids = turns.map(({ id }) => id);
  const texts = turns.map(({ text }) => text);
  const bm25 = await timeSeconds('bm25', () => new Bm25Index(ids, texts));
  const openIndex = (more: object) => new GraphIndex(context, describe(more));
  const { asked, seeded } = await askQueries(corpus, bm25.result, queries, openIndex, options);
  await useBackend(backend);
  const walks = await writeWalks(folder, built.result, arrays.result, seeded, options, seconds);
  let largestDegree = 0;
  for (let node = 0; node < adjacency.size; node++)
    largestDegree = Math.max(
      largestDegree,
      adjacency.findEnd(node, Number.POSITIVE_INFINITY) - adjacency.offsets[node]!,
    );
  return {
    size,
    tagSeconds: tagged.seconds,
    insertSeconds: built.seconds,
    arraySeconds: arrays.seconds,
    bm25Seconds: bm25.seconds,
    nodes: { memories: size, concepts: adjacency.size - size },
    edges,
    largestDegree,
    graphBytes: bytes[1]! - bytes[0]!,
    arrayBytes: bytes[2]!,
    insertion,
    operations,
    isRebuilt,
    asked,
    walks,
    peakBytes: readPeakMemoryBytes(),
  };
}

process.send!(await measureGraph(JSON.parse(process.argv[2]!) as GraphTask));
