import type { z } from 'zod';
import type { Lazy, NamingOptions } from '../../core/validation/registry.ts';
import type { CreateIndex, IndexDefinition } from '../candidates/index-definition.ts';
import type { OpenVectorIndex, VectorIndexDefinition } from './live/vector-index-definition.ts';

type Options = NamingOptions<'index'>;

/** A kind of vector index, which costs nothing to import: `live` over rows that come and go, and as a `source` of an experiment, which searches a corpus as of a moment. */
export interface VectorKind<L extends Options, S extends Options> {
  readonly live: VectorIndexDefinition<L>;
  readonly source: IndexDefinition<S>;
}

export function defineVectorKind<L extends Options, S extends Options>(kind: VectorKind<L, S>): VectorKind<L, S> {
  return kind;
}

/** A kind with its implementations, which are imported on first use. */
export interface LazyVectorKind<L extends Options, S extends Options> {
  readonly live: Lazy<VectorIndexDefinition<L>, OpenVectorIndex<z.output<L>>>;
  readonly source: Lazy<IndexDefinition<S>, CreateIndex<z.output<S>>>;
}

/** @param loads the implementation of each use. */
export function withLoads<L extends Options, S extends Options>(
  { live, source }: VectorKind<L, S>,
  loads: {
    readonly live: () => Promise<OpenVectorIndex<z.output<L>>>;
    readonly source: () => Promise<CreateIndex<z.output<S>>>;
  },
): LazyVectorKind<L, S> {
  return { live: { ...live, load: loads.live }, source: { ...source, load: loads.source } };
}
