import { z } from 'zod';
import { DimensionMismatchError } from '../../core/errors/errors.ts';
import { loadOnBackend } from '../../core/tensors/backend.ts';
import { OptionsRegistry } from '../../core/validation/registry.ts';
import { parse } from '../../core/validation/validation.ts';
import type { VectorIndex } from '../../model/vector-index.ts';
import { flat, hnsw, type OpenVectorIndex, pgvector, usearch } from './vector-kind.ts';

/** Every kind of vector index as a source of an experiment, which searches a corpus as of a moment. */
export const VECTOR_SOURCES = [
  { ...flat.source, load: () => loadOnBackend(async () => (await import('./flat.ts')).createFlat) },
  { ...hnsw.source, load: async () => (await import('./hnsw.ts')).createHnsw },
  { ...usearch.source, load: async () => (await import('./usearch.ts')).loadUsearchSource() },
  { ...pgvector.source, load: async () => (await import('./pgvector.ts')).createPgvector },
] as const;

/** Every kind of vector index over rows that come and go. */
export const VECTOR_INDEXES = new OptionsRegistry('index', [
  { ...flat.live, load: async () => (await import('./flat-vectors.ts')).openFlatVectors },
  { ...hnsw.live, load: async () => (await import('./hnsw-vectors.ts')).openHnswVectors },
  { ...usearch.live, load: async () => (await import('./usearch.ts')).openUsearchVectors },
  { ...pgvector.live, load: async () => (await import('./pgvector.ts')).openPgvector },
]);

/** The options of every index, distinguished by `index`; unknown keys are refused. */
export const vectorIndexOptions = VECTOR_INDEXES.options;
/** The options of one index, with every default written out. */
export type VectorIndexOptions = z.output<typeof vectorIndexOptions>;
/** The options as written: those with a default may be left out. */
export type VectorIndexInput = z.input<typeof vectorIndexOptions>;

/**
 * Opens an index whose vectors may come and go.
 *
 * @param written for example `{ index: 'hnsw', preset: 'specification', distance: 'l2' }`.
 * @param dimension D, the length of its vectors.
 * @param folder where {@link VectorIndex.save} wrote the rows that the index begins with; any index opens what any other saved with the same distance.
 * @throws ConfigurationError for options of no index; ValidationError for a dimension that is no positive integer; DimensionMismatchError and
 * ConfigurationError for rows of another dimension or distance; ChecksumMismatchError for damaged files; UnavailableError for a missing package or server.
 */
export async function openVectorIndex(
  written: VectorIndexInput,
  dimension: number,
  folder?: string,
): Promise<VectorIndex> {
  const options = parse(vectorIndexOptions, written, 'the options of an index of vectors');
  const open = (await VECTOR_INDEXES.get(options.index).load()) as OpenVectorIndex<VectorIndexOptions>;
  if (folder === undefined) return open(options, { dimension });
  const { readSavedIndex } = await import('./saved-index.ts');
  const saved = await readSavedIndex(folder);
  if (saved.dimension !== dimension)
    throw new DimensionMismatchError(
      `vectors saved in ${folder}`,
      dimension,
      saved.dimension,
      'open the index with the dimension of its vectors',
    );
  parse(z.object({ distance: z.literal(saved.options.distance) }), options, `the options of the index in ${folder}`);
  return open(options, { dimension, saved });
}
