/** Source files to conversations, queries and judgements. */

export { type JsonlOptions, loadJsonl } from './jsonl.ts';
export { DATASETS, type DatasetContext, type DatasetOptions, datasetOptions, loadDataset } from './registry.ts';
export type { OnDirtyRow } from './row-faults.ts';
export { loadSpamAssassinThreads, SPAM_ASSASSIN_LICENCE, type SpamAssassinOptions } from './spamassassin-threads.ts';
