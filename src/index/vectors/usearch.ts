import { importOptional } from '../../core/code/optional-packages.ts';
import { viewRow } from '../../core/tensors/rows.ts';
import type { CreateIndex } from '../candidates/index-definition.ts';
import { countFetched, createHnsw, type GraphSpace, type HnswGraph, type HnswLibrary, type Nearest } from './hnsw.ts';
import { openGraphVectors } from './hnsw-vectors.ts';
import type { HnswOptions, OpenVectorIndex, UsearchVectorsOptions } from './vector-kind.ts';

/** A graph of the package usearch: the part of it that is used. */
interface UsearchGraph {
  dimensions(): number;
  size(): number;
  add(keys: BigUint64Array, vectors: Float32Array, threads: number): void;
  remove(key: bigint): number;
  search(query: Float32Array, k: number, threads: number): { keys: BigUint64Array; distances: Float32Array };
  save(path: string): void;
  load(path: string): void;
}

interface UsearchPackage {
  readonly Index: new (options: {
    readonly dimensions: number;
    readonly metric: 'ip' | 'l2sq';
    readonly quantization: 'f32';
    readonly connectivity: number;
    readonly expansion_add: number;
    readonly expansion_search: number;
  }) => UsearchGraph;
}

/** More threads would link points in an order that differs from run to run. */
const THREADS = 1;

/** A graph of usearch, which names points by 64 bits and takes no filter. */
class FilteredGraph implements HnswGraph {
  readonly #graph: UsearchGraph;
  readonly #efSearch: number;

  constructor(graph: UsearchGraph, efSearch: number) {
    this.#graph = graph;
    this.#efSearch = efSearch;
  }

  /** Without those that are hidden. */
  count(): number {
    return this.#graph.size();
  }

  add(rows: Float32Array, labels: Int32Array): void {
    this.#graph.add(BigUint64Array.from(labels, BigInt), rows, THREADS);
  }

  remove(label: number): void {
    this.#graph.remove(BigInt(label));
  }

  search(queries: Float32Array, k: number, shown?: Uint8Array): Nearest {
    const dimension = this.#graph.dimensions();
    const count = queries.length / dimension;
    const width = shown === undefined ? k : this.#countFetched(k, shown);
    const [labels, distances] = [new Int32Array(count * k).fill(-1), new Float32Array(count * k)];
    for (let query = 0; query < count; query++) {
      const found = this.#graph.search(viewRow(queries, dimension, query), width, THREADS);
      let at = query * k;
      for (const [i, key] of found.keys.entries()) {
        if (at === (query + 1) * k) break;
        const label = Number(key);
        if (shown !== undefined && shown[label] !== 1) continue;
        labels[at] = label;
        distances[at++] = found.distances[i] as number;
      }
    }
    return { labels, distances };
  }

  #countFetched(k: number, shown: Uint8Array): number {
    const visible = shown.reduce((sum, mark) => sum + mark, 0);
    return countFetched(Math.max(k, this.#efSearch), this.count(), visible);
  }

  async write(path: string): Promise<void> {
    this.#graph.save(path);
  }
}

/** The levels of points come from a seed of its own: graphs of the same points and options are equal. */
function wrapUsearch({ Index }: UsearchPackage): HnswLibrary {
  const build = (space: GraphSpace, dimensions: number, { m, efConstruction, efSearch }: HnswOptions) =>
    new Index({
      dimensions,
      metric: space === 'l2' ? 'l2sq' : 'ip',
      quantization: 'f32',
      connectivity: m,
      expansion_add: efConstruction,
      expansion_search: efSearch,
    });
  return {
    name: 'usearch',
    create: (space, dimension, _, options) => new FilteredGraph(build(space, dimension, options), options.efSearch),
    // Ends the process at some files that are no graphs: a saved index has its checksums compared before.
    read(space, dimension, path, options) {
      const graph = build(space, dimension, options);
      graph.load(path);
      return new FilteredGraph(graph, options.efSearch);
    },
  };
}

/** @throws UnavailableError with the command that installs the package, if it is missing. */
export async function loadUsearch(): Promise<HnswLibrary> {
  const load = (): Promise<UsearchPackage> => import('usearch' as string);
  return wrapUsearch(await importOptional(load, 'index usearch', ['usearch']));
}

/** Makes the source of an experiment. @throws UnavailableError if the package is missing. */
export async function loadUsearchSource(): Promise<CreateIndex<Omit<HnswOptions, 'seed'>>> {
  const library = await loadUsearch();
  return (options, context) => createHnsw(options, context, library);
}

/** @throws UnavailableError if the package is missing. */
export const openUsearchVectors: OpenVectorIndex<UsearchVectorsOptions> = async (options, context) =>
  openGraphVectors(options, context, await loadUsearch());
