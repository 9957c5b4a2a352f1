import { z } from 'zod';
import { candidateCount } from '../candidates/index-definition.ts';
import { defineVectorKind, liveKeys } from './vector-kind.ts';

const live = z.strictObject({ index: z.literal('flat'), ...liveKeys });
export type FlatVectorsOptions = z.output<typeof live>;

export const flat = defineVectorKind({
  live: { options: live, description: 'exact: compares the query with every vector that it may see' },
  source: {
    options: z.strictObject({ index: z.literal('flat'), k: candidateCount }),
    reads: ['vectors', 'times'],
    description: 'the vectors nearest by cosine, exactly: compares the query with every vector',
  },
});
