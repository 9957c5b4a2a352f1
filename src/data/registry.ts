import type { z } from 'zod';
import { type Lazy, type NamingOptions, OptionsRegistry } from '../core/validation/registry.ts';
import { parse } from '../core/validation/validation.ts';
import type { Dataset } from '../model/dataset.ts';
import {
  cast,
  chatGptExport,
  claudeExport,
  corrections,
  type DatasetContext,
  type DatasetDefinition,
  irc,
  jsonl,
  type LoadDataset,
  locomo,
  mailThreads,
  memory,
  multihop,
  oasst,
  rMailingList,
  shop,
  slackExport,
  spamAssassinThreads,
  synthetic,
  telegramExport,
  trecCollection,
} from './prepared/datasets.ts';
import { displayDataset, withFoundPath } from './prepared/prepared.ts';

function member<S extends NamingOptions<'name'>>(
  definition: DatasetDefinition<S>,
  load: () => Promise<LoadDataset<z.output<S>>>,
): Lazy<DatasetDefinition<S>, LoadDataset<z.output<S>>> {
  return { ...definition, load };
}

/** Every dataset: to add one takes its file and a line here. */
export const DATASETS = new OptionsRegistry('name', [
  member(spamAssassinThreads, async () => (await import('./mail/mail-dataset.ts')).loadMailsOf2002),
  member(jsonl, async () => (await import('./jsonl/jsonl.ts')).loadJsonl),
  member(locomo, async () => (await import('./locomo/locomo.ts')).loadLocomo),
  member(irc, async () => (await import('./irc/irc.ts')).loadIrc),
  member(mailThreads, async () => (await import('./mail/mail-dataset.ts')).loadMail),
  member(rMailingList, async () => (await import('./mail/r-mailing-list.ts')).loadRMailingList),
  member(oasst, async () => (await import('./oasst/oasst.ts')).loadOasst),
  member(chatGptExport, async () => (await import('./exports/chatgpt-export.ts')).loadChatGptExport),
  member(claudeExport, async () => (await import('./exports/claude-export.ts')).loadClaudeExport),
  member(telegramExport, async () => (await import('./exports/telegram-export.ts')).loadTelegramExport),
  member(slackExport, async () => (await import('./exports/slack-export.ts')).loadSlackExport),
  member(cast, async () => (await import('./cast/cast.ts')).loadCast),
  member(multihop, async () => (await import('./documents/multihop.ts')).loadMultihop),
  member(trecCollection, async () => (await import('./documents/trec-collection.ts')).loadTrecCollection),
  member(synthetic, async () => (await import('./synthetic/synthetic.ts')).loadSynthetic),
  member(corrections, async () => (await import('./synthetic/corrections.ts')).loadCorrections),
  member(shop, async () => (await import('./synthetic/shop.ts')).loadShop),
  member(memory, async () => (await import('./memory/memory.ts')).loadMemory),
]);

/** The options of every dataset, distinguished by `name`; unknown keys are refused. */
export const datasetOptions = DATASETS.options;
/** The options of one dataset, chosen by `name`, with every default written out. */
export type DatasetOptions = z.output<typeof datasetOptions>;
/** The options as written: those with a default may be left out. */
export type DatasetInput = z.input<typeof datasetOptions>;

/** The options that each loaded dataset was loaded by, for the config of an experiment on it. */
const origins = new WeakMap<Dataset, DatasetInput>();

/** The options that a dataset was loaded by; undefined for one that a program made. */
export function findDatasetOrigin(dataset: Dataset): DatasetInput | undefined {
  return origins.get(dataset);
}

/**
 * Loads the dataset that the options name, from the folder of the config that set them or from the working directory.
 *
 * @param context by default nothing is kept between runs.
 * @throws ConfigurationError for an unknown dataset and for unknown options.
 */
export async function loadDataset(written: DatasetInput, context: Partial<DatasetContext> = {}): Promise<Dataset> {
  const options = parse(datasetOptions, withFoundPath(written), 'the options of a dataset');
  const load = (await DATASETS.get(options.name).load()) as LoadDataset<DatasetOptions>;
  const dataset = displayDataset(await load(options, { cacheFolder: null, ...context }));
  origins.set(dataset, written);
  return dataset;
}
