import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import hnswlib from 'hnswlib-node';
import { HnswIndex, wrapHnswlib } from '../src/index/vectors/hnsw.ts';
import type { HnswOptions } from '../src/index/vectors/vector-kind.ts';

/** An index over all of a corpus, and the graph of the library within it. */
interface BuiltIndex {
  readonly index: HnswIndex;
  readonly graph: hnswlib.HierarchicalNSW;
  readonly seconds: number;
}

/** @param vectors row-major [N, D] */
export async function buildHnsw(
  ids: readonly string[],
  vectors: Float32Array,
  dimension: number,
  options: HnswOptions,
): Promise<BuiltIndex> {
  const graphs: hnswlib.HierarchicalNSW[] = [];
  class Noted extends hnswlib.HierarchicalNSW {
    constructor(...[space, width]: ConstructorParameters<typeof hnswlib.HierarchicalNSW>) {
      super(space, width);
      graphs.push(this);
    }
  }
  const index = new HnswIndex({ ids, vectors, dimension }, options, wrapHnswlib({ HierarchicalNSW: Noted }));
  const everything = { texts: [''], vectors: vectors.subarray(0, dimension), cutoffs: Int32Array.of(ids.length) };
  const started = performance.now();
  await index.search(everything, 1); // turns are taken in when a query may see them
  return { index, graph: graphs[0] as hnswlib.HierarchicalNSW, seconds: (performance.now() - started) / 1000 };
}

/** Bytes of the graph without the vectors, as the library saves it: links, counts, labels, levels. */
export function measureGraphBytes({ graph }: BuiltIndex): number {
  const folder = mkdtempSync(join(tmpdir(), 'ragpp-hnsw-'));
  try {
    const path = join(folder, 'graph');
    graph.writeIndexSync(path);
    return statSync(path).size - graph.getCurrentCount() * graph.getNumDimensions() * Float32Array.BYTES_PER_ELEMENT;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
