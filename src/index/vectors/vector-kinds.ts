import { loadOnBackend } from '../../core/tensors/backend.ts';
import { flat } from './flat-options.ts';
import { hnsw } from './hnsw-options.ts';
import { pgvector } from './pgvector-options.ts';
import { withLoads } from './vector-kind.ts';

/** Every kind of vector index: to add one takes its files and an entry here. */
const VECTOR_KINDS = [
  withLoads(flat, {
    live: async () => (await import('./live/flat-vectors.ts')).openFlatVectors,
    source: () => loadOnBackend(async () => (await import('./flat.ts')).createFlat),
  }),
  withLoads(hnsw, {
    live: async () => (await import('./live/hnsw-vectors.ts')).openHnswVectors,
    source: async () => (await import('./hnsw.ts')).createHnsw,
  }),
  withLoads(pgvector, {
    live: async () => (await import('./live/pgvector.ts')).openPgvector,
    source: async () => (await import('./pgvector.ts')).createPgvector,
  }),
] as const;

type Use = 'live' | 'source';
type MembersOf<Kinds extends readonly Record<Use, unknown>[], U extends Use> = { [I in keyof Kinds]: Kinds[I][U] };

/** The members that the kinds give to a registry. */
export function listKinds<U extends Use>(use: U): MembersOf<typeof VECTOR_KINDS, U> {
  return VECTOR_KINDS.map((kind) => kind[use]) as unknown as MembersOf<typeof VECTOR_KINDS, U>;
}
