import { z } from 'zod';

export const jsonl = {
  options: z.strictObject({
    name: z.literal('jsonl'),
    /** The folder with turns.jsonl, queries.jsonl and qrels.txt. */
    path: z.string().min(1),
    onDirtyRow: z.enum(['error', 'skip']).default('error'),
    relevantGrade: z.int().min(1).default(1),
  }),
  description: 'your own conversations: a folder with turns.jsonl, queries.jsonl and qrels.txt',
  licence: 'yours',
  source: 'you write them, as docs/datasets/jsonl.md says',
};
