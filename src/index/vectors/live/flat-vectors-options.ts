import { z } from 'zod';
import { capacityOption, distanceOption, type VectorIndexDefinition } from './vector-index-definition.ts';

const options = z.strictObject({ index: z.literal('flat'), distance: distanceOption, capacity: capacityOption });

export type FlatVectorsOptions = z.output<typeof options>;

export const flatVectors: VectorIndexDefinition<typeof options> = {
  options,
  description: 'exact: compares the query with every vector that it may see',
};
