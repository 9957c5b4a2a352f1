import { z } from 'zod';
import { createExportSchema } from '../exports/export-options.ts';

/** The licence of the topic trees of TREC CAsT 2022. */
export const CAST_LICENCE = 'MIT';

/** The text by which a user's turn is asked. */
export const CAST_QUERY_TEXTS = ['utterance', 'rewritten'] as const;
export type CastQueryText = (typeof CAST_QUERY_TEXTS)[number];

export const cast = {
  options: createExportSchema('cast', 'replies', {
    queryText: z.enum(CAST_QUERY_TEXTS).default('utterance'),
  }),
  description: 'TREC CAsT 2022, trees of questions to an assistant: a turn must find the one that it follows',
  licence: CAST_LICENCE,
  source: 'https://github.com/daltonj/treccastweb, 2022: a file of topic trees',
};
