import { loadOnBackend } from '../../core/tensors/backend.ts';
import { flat } from './flat-options.ts';
import { hnsw } from './hnsw-options.ts';
import { pgvector } from './pgvector-options.ts';
import { withLoads } from './vector-kind.ts';

/** Every kind of vector index: to add one takes its files, an entry here, and its name in the two registries that the entries are members of. */
export const VECTOR_KINDS = {
  flat: withLoads(flat, {
    live: async () => (await import('./live/flat-vectors.ts')).openFlatVectors,
    source: () => loadOnBackend(async () => (await import('./flat.ts')).createFlat),
  }),
  hnsw: withLoads(hnsw, {
    live: async () => (await import('./live/hnsw-vectors.ts')).openHnswVectors,
    source: async () => (await import('./hnsw.ts')).createHnsw,
  }),
  pgvector: withLoads(pgvector, {
    live: async () => (await import('./live/pgvector.ts')).openPgvector,
    source: async () => (await import('./pgvector.ts')).createPgvector,
  }),
};
