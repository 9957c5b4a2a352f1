/** Source files to conversations, queries and judgements. */

export { type CastOptions, loadCast } from './cast/cast.ts';
export { CAST_LICENCE } from './cast/cast-options.ts';
export { loadChatGptExport } from './chatgpt/chatgpt-export.ts';
export { loadClaudeExport } from './claude/claude-export.ts';
export type { ExportOptions } from './exports/export-dataset.ts';
export { type IrcOptions, loadIrc } from './irc/irc.ts';
export { IRC_LICENCE } from './irc/irc-options.ts';
export { type JsonlOptions, loadJsonl } from './jsonl/jsonl.ts';
export type { OnDirtyRow } from './jsonl/row-faults.ts';
export { type LocomoOptions, loadLocomo } from './locomo/locomo.ts';
export { LOCOMO_CATEGORIES, type LocomoCategory } from './locomo/locomo-categories.ts';
export { LOCOMO_LICENCE } from './locomo/locomo-options.ts';
export type { MailSplit } from './mail/mail-preparation.ts';
export { loadMailFiles, type MailThreadsOptions } from './mail/mail-threads.ts';
export { loadSpamAssassinThreads, type SpamAssassinOptions } from './mail/spamassassin-threads.ts';
export { SPAM_ASSASSIN_LICENCE } from './mail/spamassassin-threads-options.ts';
export {
  type FromTurnsOptions,
  fromTurns,
  type Moment,
  type QrelsInput,
  type QueryInput,
  type TurnInput,
} from './memory/from-turns.ts';
export { loadMultihop, type MultihopOptions } from './multihop/multihop.ts';
export { MULTIHOP_LICENCE } from './multihop/multihop-options.ts';
export { loadOasst, type OasstOptions } from './oasst/oasst.ts';
export { OASST_LICENCE } from './oasst/oasst-options.ts';
export type { DatasetContext } from './prepared/dataset-definition.ts';
export {
  DATASETS,
  type DatasetInput,
  type DatasetOptions,
  datasetOptions,
  findDatasetOrigin,
  loadDataset,
} from './registry.ts';
export type { QueryChoice, QueryKind } from './replies/query-options.ts';
export { askShop, type ShopQuestion } from './shop/ask-shop.ts';
export { type DrawnShop, drawShop, type ShopCustomer, type ShopOrder } from './shop/draw-shop.ts';
export { buildShopDataset, loadShop } from './shop/shop.ts';
export { SHOP_KINDS, type ShopInput, type ShopKind, type ShopOptions } from './shop/shop-options.ts';
export { formatShopTables } from './shop/shop-tables.ts';
export { loadSlackExport } from './slack/slack-export.ts';
export {
  BENCHMARK_COORDINATES,
  type BenchmarkData,
  type BenchmarkSize,
  drawBenchmarkData,
} from './synthetic/benchmark-vectors.ts';
export {
  drawPlantedConversations,
  type PlantedConversations,
  type PlantedQuery,
} from './synthetic/planted-conversations.ts';
export { computePlantedLevels, type PlantedLevel, type PlantedLevels } from './synthetic/planted-levels.ts';
export { buildPlantedDataset, loadSynthetic } from './synthetic/synthetic.ts';
export {
  PLANTED_DEPENDENCIES,
  type PlantedDependency,
  SYNTHETIC_LICENCE,
  type SyntheticInput,
  type SyntheticOptions,
} from './synthetic/synthetic-options.ts';
export { loadTelegramExport, type TelegramExportOptions } from './telegram/telegram-export.ts';
export { loadTrecCollection, type TrecCollectionOptions } from './trec-collection/trec-collection.ts';
export type { TopicField } from './trec-collection/trec-collection-options.ts';
