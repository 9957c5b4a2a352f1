import { z } from 'zod';
import { type StartProgress, silent } from '../core/progress.ts';
import type { Dataset } from '../model/dataset.ts';
import { loadJsonl } from './jsonl.ts';
import { loadSpamAssassinThreads, SPAM_ASSASSIN_LICENCE } from './spamassassin-threads.ts';

const spamAssassinThreads = z.strictObject({ name: z.literal('spamassassin-threads') });

const jsonl = z.strictObject({
  name: z.literal('jsonl'),
  /** The folder with turns.jsonl, queries.jsonl and qrels.txt. */
  path: z.string().min(1),
  onDirtyRow: z.enum(['error', 'skip']).default('error'),
  relevantGrade: z.int().min(1).default(1),
});

/** The options of every dataset, told apart by `name`; unknown keys are refused. */
export const datasetOptions = z.discriminatedUnion('name', [spamAssassinThreads, jsonl]);
export type DatasetOptions = z.output<typeof datasetOptions>;

/** What a loader may use besides its options. */
export interface DatasetContext {
  /** Where prepared data is kept between runs; null keeps none. */
  readonly cacheFolder: string | null;
  readonly progress?: StartProgress;
}

interface DatasetEntry<Name extends DatasetOptions['name']> {
  readonly description: string;
  readonly licence: string;
  readonly load: (options: Extract<DatasetOptions, { name: Name }>, context: DatasetContext) => Promise<Dataset>;
}

/** Every dataset by name. */
export const DATASETS: { readonly [Name in DatasetOptions['name']]: DatasetEntry<Name> } = {
  'spamassassin-threads': {
    description: 'mail threads of 2002: a reply must find the mail that it answers',
    licence: SPAM_ASSASSIN_LICENCE,
    load: (_, { cacheFolder, progress }) => loadSpamAssassinThreads({ cacheFolder }, progress ?? silent),
  },
  jsonl: {
    description: 'your own conversations: a folder with turns.jsonl, queries.jsonl and qrels.txt',
    licence: 'yours',
    load: (options) => loadJsonl(options),
  },
};

/** Loads the dataset that the options name. */
export function loadDataset(options: DatasetOptions, context: DatasetContext): Promise<Dataset> {
  const entry = DATASETS[options.name] as DatasetEntry<DatasetOptions['name']>;
  return entry.load(options, context);
}
