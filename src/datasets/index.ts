/** Source files to conversations, queries and judgements. */

export { IRC_LICENCE, type IrcOptions, loadIrc } from './irc.ts';
export { type JsonlOptions, loadJsonl } from './jsonl.ts';
export { LOCOMO_LICENCE, type LocomoOptions, loadLocomo } from './locomo.ts';
export { LOCOMO_CATEGORIES, type LocomoCategory } from './locomo-categories.ts';
export type { MailSplit } from './mail-preparation.ts';
export { loadMailFiles, type MailThreadsOptions } from './mail-threads.ts';
export { loadOasst, OASST_LICENCE, type OasstOptions } from './oasst.ts';
export { DATASETS, type DatasetContext, type DatasetOptions, datasetOptions, loadDataset } from './registry.ts';
export type { OnDirtyRow } from './row-faults.ts';
export { loadSpamAssassinThreads, SPAM_ASSASSIN_LICENCE, type SpamAssassinOptions } from './spamassassin-threads.ts';
