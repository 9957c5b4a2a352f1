import { RagPlusPlusError } from '../../core/errors/errors.ts';
import { computeHash } from '../../core/hash/hash.ts';
import { recallAt } from '../../index/candidates/recall.ts';
import type { IndexOptions } from '../../index/registry.ts';
import type { Dataset, Query } from '../../model/dataset.ts';
import { listOriginsOfArm } from '../../rank/retrieval/arm.ts';
import { candidatesFrom } from '../../rank/retrieval/candidate-sources.ts';
import type { RankOptions } from '../../rank/retrieval/written-steps.ts';
import { readArm } from '../../rank/retrieval/written-steps.ts';
import type { Workspace } from '../../rank/signals/workspace.ts';
import type { ExperimentConfig } from '../config/config.ts';
import { groupContentHashes, type QueriedCorpus } from '../measure/cluster-conversations.ts';
import type { Measurement } from '../measure/measurement.ts';
import type { Outcomes } from './arm-failure.ts';
import type { ArmRecord } from './arm-record.ts';
import type { ArmEncoding } from './workspaces.ts';

/** The sources whose answers may differ from the exact index's. */
export function listApproximateSources(arm: RankOptions): IndexOptions[] {
  return readArm(arm)
    .outline.sources.map(({ index }) => index)
    .filter((source) => source.index === 'hnsw' || (source.index === 'pgvector' && source.method !== 'none'));
}

/** What the exact index finds in the place of a source of an arm. */
export function exactCandidatesOfArm(arm: RankOptions, { k }: IndexOptions) {
  const { filter, slice } = readArm(arm).outline.view;
  return candidatesFrom({ index: 'flat', k }, null, filter, [], slice);
}

/** Ids that a sentence names before it breaks off. */
const SHOWN = 5;

/** The share of the exact index's results that an approximate index finds. */
async function describeIndexRecall(workspace: Workspace, source: IndexOptions, arm: RankOptions): Promise<string> {
  const oracle = await workspace.get(exactCandidatesOfArm(arm, source));
  const { filter, slice } = readArm(arm).outline.view;
  const found = await workspace.get(candidatesFrom(source, null, filter, [], slice));
  const depths = [...new Set([Math.min(10, source.k), source.k])];
  const figures = depths.map((depth) => `recall@${depth} ${recallAt(depth, found, oracle).toFixed(4)}`);
  return `${figures.join(', ')} (${workspace.queries.length} queries)`;
}

/** The part of a runner that remarks are about. */
interface RemarkSource {
  readonly queries: readonly Query[];
  readonly dataset: Pick<Dataset, 'corpus' | 'qrels'>;
  openArmWorkspace(arm: ArmEncoding): Promise<Workspace>;
}

/** What the sources of an arm see: its filter, and the policy of its slice. */
function listViewParts(arm: RankOptions): unknown[] {
  const { filter, slice } = readArm(arm).outline.view;
  return [filter, slice?.policy ?? null];
}

/** The recall of each approximate index that an arm has used. If a damaged stage prevents the measurement, the remark states this, since the arms are done. */
async function recallRemarks(runner: RemarkSource, records: readonly ArmRecord[]): Promise<string[]> {
  const used = records.flatMap(({ options }) => listApproximateSources(options).map((source) => ({ source, options })));
  const sources = new Map(
    used.map(({ source, options }) => [
      computeHash([source, options.embedding, options.seed, listViewParts(options)]),
      { source, arm: options },
    ]),
  );
  const remarks: string[] = [];
  for (const { source, arm } of sources.values()) {
    const workspace = await runner.openArmWorkspace(arm);
    const recall = await describeIndexRecall(workspace, source, arm).catch((error: unknown) => {
      if (!(error instanceof RagPlusPlusError)) throw error;
      return `not measured, ${error.code}: ${error.message}`;
    });
    const isOwn = arm.embedding !== null || arm.seed !== null || listViewParts(arm).some((part) => part !== null);
    remarks.push(`${source.index}${isOwn ? ` of ${arm.name}` : ''} against the exact index: ${recall}`);
  }
  return remarks;
}

/**
 * For each arm with learned weights, the number of measured conversations that its weights were trained on: its figures there are not a test.
 * Conversations are compared by their contents, since two collections may use one id for different conversations.
 */
export function describeTrainingOverlap(arms: readonly ArmRecord['options'][], measured: QueriedCorpus): string[] {
  const origins = arms.flatMap((arm) => listOriginsOfArm(readArm(arm)).map((origin) => ({ name: arm.name, origin })));
  if (origins.length === 0) return [];
  const contents = groupContentHashes(measured);
  return origins.flatMap(({ name, origin: { file, trainingContents } }) => {
    if (trainingContents === undefined)
      return [
        `weights of ${name} hold no content hashes, so whether they were trained on these conversations is unknown; train them again: ${file}`,
      ];
    const trained = new Set(trainingContents);
    const seen = [...contents.values()].filter((hashes) => hashes.some((hash) => trained.has(hash))).length;
    if (seen === 0) return [];
    return [`weights of ${name} were trained on ${seen} of these ${contents.size} conversations: no test of them`];
  });
}

/** The remarks below the table. */
export async function collectRemarks(
  runner: RemarkSource,
  { evaluation: { baseline } }: ExperimentConfig,
  { unanswerable }: Measurement,
  { records, failures }: Outcomes,
): Promise<string[]> {
  const { queries, dataset } = runner;
  const remarks = await recallRemarks(runner, records);
  const options = records.map((record) => record.options);
  remarks.push(...describeTrainingOverlap(options, { corpus: dataset.corpus, queries, qrels: dataset.qrels }));
  const shown = `${unanswerable
    .slice(0, SHOWN)
    .map(({ id }) => id)
    .join(', ')}${unanswerable.length > SHOWN ? ', …' : ''}`;
  if (unanswerable.length > 0)
    remarks.push(`${unanswerable.length} queries without a relevant turn are left out: ${shown}`);
  if (failures.some(({ name }) => name === baseline))
    remarks.push(`nothing is compared, since the baseline failed: ${baseline}`);
  return remarks;
}
