import { z } from 'zod';
import { freezeDeeply } from '../../../core/values/frozen.ts';
import { HNSW_DEFAULTS, type HnswOptions } from '../hnsw-options.ts';
import { capacityOption, distanceOption, type VectorIndexDefinition } from './vector-index-definition.ts';

/** Named graphs: that of the papers' tables, and that of the engine's specification. */
export const HNSW_PRESETS = freezeDeeply({
  paper: HNSW_DEFAULTS,
  specification: { m: 16, efConstruction: 200, efSearch: 50 },
}) satisfies Readonly<Record<string, Omit<HnswOptions, 'seed'>>>;

const options = z.strictObject({
  index: z.literal('hnsw'),
  distance: distanceOption,
  capacity: capacityOption,
  preset: z.enum(['paper', 'specification']).default('paper'),
  m: z.int().min(2).max(512).optional(),
  efConstruction: z.int().min(1).optional(),
  efSearch: z.int().min(1).optional(),
  seed: z.int().min(0).default(1),
});

export type HnswVectorsOptions = z.output<typeof options>;

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

export const hnswVectors: VectorIndexDefinition<typeof options> = {
  options,
  description: 'approximate, in memory: searches a navigable small-world graph; exact where few vectors are visible',
};
