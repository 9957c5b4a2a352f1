import { z } from 'zod';
import { candidateCount } from './index-definition.ts';

export const flat = {
  options: z.strictObject({ index: z.literal('flat'), k: candidateCount }),
  description: 'the vectors nearest by cosine, exactly: compares the query with every vector',
};
