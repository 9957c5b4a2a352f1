/** Source files to conversations, queries and judgements. */

export { IRC_LICENCE, type IrcOptions, loadIrc } from './irc/irc.ts';
export { type JsonlOptions, loadJsonl } from './jsonl/jsonl.ts';
export type { OnDirtyRow } from './jsonl/row-faults.ts';
export { LOCOMO_LICENCE, type LocomoOptions, loadLocomo } from './locomo/locomo.ts';
export { LOCOMO_CATEGORIES, type LocomoCategory } from './locomo/locomo-categories.ts';
export type { MailSplit } from './mail/mail-preparation.ts';
export { loadMailFiles, type MailThreadsOptions } from './mail/mail-threads.ts';
export {
  loadSpamAssassinThreads,
  SPAM_ASSASSIN_LICENCE,
  type SpamAssassinOptions,
} from './mail/spamassassin-threads.ts';
export { loadOasst, OASST_LICENCE, type OasstOptions } from './oasst/oasst.ts';
export { DATASETS, type DatasetContext, type DatasetOptions, datasetOptions, loadDataset } from './registry.ts';
