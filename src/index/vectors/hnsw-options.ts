import { z } from 'zod';
import { freezeDeeply } from '../../core/values/frozen.ts';
import { candidateCount } from '../candidates/index-definition.ts';
import { defineVectorKind, liveKeys } from './vector-kind.ts';

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

/** Named graphs: that of the papers' tables, and that of the engine's specification. */
export const HNSW_PRESETS = freezeDeeply({
  paper: HNSW_DEFAULTS,
  specification: { m: 16, efConstruction: 200, efSearch: 50 },
}) satisfies Readonly<Record<string, Omit<HnswOptions, 'seed'>>>;

const m = z.int().min(2).max(512);
const length = z.int().min(1);

const live = z.strictObject({
  index: z.literal('hnsw'),
  ...liveKeys,
  preset: z.enum(['paper', 'specification']).default('paper'),
  m: m.optional(),
  efConstruction: length.optional(),
  efSearch: length.optional(),
  seed: z.int().min(0).default(1),
});
export type HnswVectorsOptions = z.output<typeof live>;

/** The graph of the preset; options that are given replace its numbers. */
export function chooseGraph({ preset, m, efConstruction, efSearch, seed }: HnswVectorsOptions): HnswOptions {
  const { [preset]: graph } = HNSW_PRESETS;
  return {
    m: m ?? graph.m,
    efConstruction: efConstruction ?? graph.efConstruction,
    efSearch: efSearch ?? graph.efSearch,
    seed,
  };
}

export const hnsw = defineVectorKind({
  live: {
    options: live,
    description: 'approximate, in memory: searches a navigable small-world graph; exact where few vectors are visible',
  },
  source: {
    options: z.strictObject({
      index: z.literal('hnsw'),
      k: candidateCount,
      m: m.default(HNSW_DEFAULTS.m),
      efConstruction: length.default(HNSW_DEFAULTS.efConstruction),
      efSearch: length.default(HNSW_DEFAULTS.efSearch),
    }),
    reads: ['vectors', 'times'],
    description: 'the vectors nearest by cosine, approximately: searches a navigable small-world graph',
  },
});
