import { z } from 'zod';
import { check } from '../../core/validation/validation.ts';
import type { Dataset } from '../../model/dataset.ts';
import { attributesSchema } from '../../model/turns/attributes.ts';

const turn = z.looseObject({
  id: z.string().min(1),
  conversationId: z.string().min(1),
  timestamp: z.number(),
  text: z.string(),
  attributes: attributesSchema.optional(),
});

const query = z.looseObject({
  id: z.string().min(1),
  text: z.string(),
  timestamp: z.number(),
  cluster: z.string(),
  split: z.enum(['dev', 'test']),
  attributes: attributesSchema.optional(),
});

/** What the program reads of a dataset, of which a plugin in JavaScript may leave out parts. */
const shape = z.looseObject({
  declaration: z.looseObject({ task: z.string(), features: z.array(z.string()), licence: z.string() }),
  corpus: z.looseObject({ turns: z.array(turn) }),
  queries: z.array(query),
  qrels: z.map(z.string(), z.map(z.string(), z.number())),
  relevantGrade: z.number().positive(),
  gradeNames: z.record(z.string(), z.string()),
  devConversations: z.set(z.string()),
  facts: z.record(z.string(), z.number()),
});

/** What is wrong with the dataset of a plugin, null for nothing. */
export function findDatasetFault(dataset: Dataset): string | null {
  const result = check(shape, dataset);
  if ('faults' in result) {
    const [{ path, expected, got }] = result.faults as [(typeof result.faults)[0]];
    return `${path}: expected ${expected}, got ${got}`;
  }
  const turns = new Set(dataset.corpus.turns.map(({ id }) => id));
  const queries = new Set(dataset.queries.map(({ id }) => id));
  if (queries.size < dataset.queries.length)
    return `queries: expected ids that differ, got ${dataset.queries.length} queries of ${queries.size} ids`;
  for (const [id, grades] of dataset.qrels)
    for (const turnId of grades.keys())
      if (!turns.has(turnId)) return `qrels: expected turns of the corpus, got ${turnId} for ${id}`;
  return null;
}
