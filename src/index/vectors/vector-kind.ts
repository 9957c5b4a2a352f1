import { z } from 'zod';
import type { Definition, NamingOptions } from '../../core/validation/registry.ts';
import type { VectorIndex } from '../../model/vector-index.ts';
import type { IndexDefinition } from '../candidates/index-definition.ts';
import type { SavedIndex } from './saved-index.ts';

/** The comparison of vectors, an option of every index. */
export const distanceOption = z.enum(['cosine', 'l2', 'inner-product']).default('cosine');

/** Rows that an index in this process can hold: the most entries of a Map of V8. */
export const LARGEST_TABLE = 2 ** 24;

/** Options of every index in this process besides its own. */
export const liveKeys = {
  distance: distanceOption,
  /** The most rows; absent: {@link LARGEST_TABLE}. */
  capacity: z.int().min(1).max(LARGEST_TABLE).optional(),
};

/** Inputs of an index besides its options. */
export interface VectorIndexContext {
  /** D, at least 1. */
  readonly dimension: number;
  /** The rows that the index begins with; absent: none, or what its table holds. */
  readonly saved?: SavedIndex;
}

export type VectorIndexDefinition<S extends NamingOptions<'index'> = NamingOptions<'index'>> = Definition<'index', S>;

/** The implementation: opens the index. */
export type OpenVectorIndex<Options> = (options: Options, context: VectorIndexContext) => Promise<VectorIndex>;

type Options = NamingOptions<'index'>;

/** A kind of vector index, which costs nothing to import: `live` over rows that come and go, and as a `source` of an experiment, which searches a corpus as of a moment. */
export interface VectorKind<L extends Options, S extends Options> {
  readonly live: VectorIndexDefinition<L>;
  readonly source: IndexDefinition<S>;
}

export function defineVectorKind<L extends Options, S extends Options>(kind: VectorKind<L, S>): VectorKind<L, S> {
  return kind;
}
