import { z } from 'zod';
import { driftSettings } from '../conservation-drift/settings.ts';

const isAscending = (numbers: readonly number[]) =>
  numbers.every((number, i) => i === 0 || number > (numbers[i - 1] ?? 0));

/** The settings of the experiment; unknown keys are errors. Data, encoder and fading salience are those of conservation-drift, so that both share the cache. */
export const findingsSettings = driftSettings
  .pick({ seed: true, dataset: true, embedding: true, halfLifeDays: true })
  .extend({
    /** Steps beyond which attention is far. */
    windows: z.array(z.int().min(1)).min(1).refine(isAscending, 'ascending windows').default([8, 16, 32]),
    /** Leading messages of the corpus that are read as one conversation, besides all of them. */
    prefixes: z.array(z.int().min(2)).refine(isAscending, 'ascending prefixes').default([100, 1000]),
    /** The tolerances of bands. */
    tolerances: z.array(z.number().positive()).min(1).default([1e-2, 1e-4, 1e-6]),
    /** Messages of a long conversation whose attention is looked at, from the first to the last. */
    sampledMessages: z.int().min(2).default(201),
  });
export type FindingsSettings = z.output<typeof findingsSettings>;
