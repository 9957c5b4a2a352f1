import { z } from 'zod';
import { freezeDeeply } from '../../core/values/frozen.ts';
import { candidateCount, type IndexDefinition } from '../candidates/index-definition.ts';

/** A navigable small-world graph: neighbours of a node (`m`), and the lengths of the lists while it is built and searched. */
export interface HnswOptions {
  /** M, the links of a node on each layer above the lowest. */
  readonly m: number;
  /** Candidates that are kept while a node is inserted. */
  readonly efConstruction: number;
  /** Candidates that are kept while a query is searched. The library raises it to k where k is larger. */
  readonly efSearch: number;
  readonly seed: number;
}

/** 32 neighbours, 200 candidates while building, 128 while searching. */
export const HNSW_DEFAULTS: Omit<HnswOptions, 'seed'> = freezeDeeply({ m: 32, efConstruction: 200, efSearch: 128 });

const options = z.strictObject({
  index: z.literal('hnsw'),
  k: candidateCount,
  m: z.int().min(2).default(HNSW_DEFAULTS.m),
  efConstruction: z.int().min(1).default(HNSW_DEFAULTS.efConstruction),
  efSearch: z.int().min(1).default(HNSW_DEFAULTS.efSearch),
});

export const hnsw: IndexDefinition<typeof options> = {
  options,
  reads: ['vectors', 'times'],
  description: 'the vectors nearest by cosine, approximately: searches a navigable small-world graph',
};
