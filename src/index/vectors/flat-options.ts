import { z } from 'zod';
import { candidateCount, type IndexDefinition } from '../candidates/index-definition.ts';

const options = z.strictObject({ index: z.literal('flat'), k: candidateCount });

export const flat: IndexDefinition<typeof options> = {
  options,
  reads: ['vectors', 'times'],
  description: 'the vectors nearest by cosine, exactly: compares the query with every vector',
};
