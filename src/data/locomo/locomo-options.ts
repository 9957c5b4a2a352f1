import { z } from 'zod';
import { ANSWERABLE_CATEGORIES, LOCOMO_CATEGORIES } from './locomo-categories.ts';

/** The licence of LoCoMo. */
export const LOCOMO_LICENCE = 'CC BY-NC 4.0';

export const locomo = {
  options: z.strictObject({
    name: z.literal('locomo'),
    /** A file in the format of locomo10.json. */
    path: z.string().min(1),
    categories: z
      .array(z.enum(LOCOMO_CATEGORIES))
      .min(1)
      .default([...ANSWERABLE_CATEGORIES]),
    /** Sample ids such as conv-26. */
    testConversations: z.array(z.string().min(1)).default([]),
    /** A hash of a question's id puts it into dev or test, instead of its conversation. */
    splitQuestions: z.boolean().optional(),
  }),
  description: 'LoCoMo: questions about very long conversations of two speakers must find their evidence',
  licence: LOCOMO_LICENCE,
  source: 'https://github.com/snap-research/locomo, file data/locomo10.json',
};
