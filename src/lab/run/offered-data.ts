import { join } from 'node:path';
import { SensitiveTextError, ValidationError } from '../../core/errors/errors.ts';
import type { BlobStore } from '../../core/files/blob-store.ts';
import { formatMegabytes } from '../../core/files/files.ts';
import { computeHash } from '../../core/hash/hash.ts';
import { encodeDataset } from '../../data/prepared/dataset-bytes.ts';
import type { EncoderSource } from '../../index/encoders/embedding-cache.ts';
import { findEncoderFiles } from '../../index/encoders/registry.ts';
import { offerVectors } from '../../index/encoders/shared-vectors.ts';
import type { Dataset } from '../../model/dataset.ts';
import { isPlain } from '../composition/config-file.ts';
import type { ArmOptions, ExperimentConfig } from '../config/config.ts';
import type { ArmRunner } from './arm-runner.ts';
import { offerStage } from './shared-stages.ts';
import { listCertainStagesOf } from './shared-work.ts';
import { StageCache } from './stage-cache.ts';
import { chooseArmEncoding, chooseEncoder, listSharedTexts, listTextOwners, splitTuningQueries } from './workspaces.ts';

/** The file that names the blob of the data. */
export const DATA_NAME = 'dataset.txt';

/** Names the file of this machine that an arm reads and the resolved config does not hold; null if there is none. */
function findArmFile({ search }: { readonly search?: unknown }): string | null {
  for (const source of Object.values(isPlain(search) ? search : {})) {
    if (!isPlain(source)) continue;
    const { index, path, concepts, database } = source;
    if (index === 'run') return `run file ${path}`;
    if (index === 'graph' && isPlain(concepts) && typeof concepts.file === 'string') return `concepts ${concepts.file}`;
    if (index === 'domain' && typeof database === 'string') return `database ${database}`;
  }
  return null;
}

/** @throws SensitiveTextError for a dataset with texts that must stay on this machine. */
function assertUnsensitive({ corpus, queries }: Dataset): void {
  const owners = listTextOwners(corpus.turns, queries, corpus);
  const count = owners.filter(({ sensitive }) => sensitive === true).length;
  if (count > 0) throw new SensitiveTextError('launcher queue', count, owners.length);
}

/** @throws ValidationError for a config that needs what only this machine has, naming it. */
function assertOfferable({ plugins, embedding, arms }: ExperimentConfig, names: readonly string[]): void {
  const chosen = arms.filter(({ name }) => names.includes(name));
  const encoders = [embedding, ...chosen.flatMap((arm) => arm.embedding ?? [])];
  const needed =
    plugins?.map(({ module }) => `plugin ${module}`)[0] ??
    encoders.flatMap((options) =>
      findEncoderFiles(options) === null ? [] : [`files of encoder ${options.encoder}`],
    )[0] ??
    chosen.flatMap((arm) => (arm.slice ? [`the kernel of the slice of arm ${arm.name}`] : []))[0] ??
    chosen.flatMap((arm) => findArmFile(arm as { readonly search?: unknown }) ?? [])[0];
  if (needed === undefined) return;
  throw new ValidationError(
    `workers of a queue have no folder of this machine, and the config needs ${needed}; use --launcher local, or slurm with a shared folder`,
  );
}

/** Offers what the cache has for arms: vectors of the texts, then the stages that arms need whatever tuning chooses. */
async function offerCache(runner: ArmRunner, names: readonly string[], blobs: BlobStore): Promise<void> {
  const { source, dataset, tuning } = runner;
  const { cacheFolder, config } = source;
  if (cacheFolder === null) return;
  const encoders = new Map<string, EncoderSource>();
  const addEncoder = (arm: ArmOptions, fit: ReadonlySet<string>) => {
    const chosen = chooseEncoder({ ...source, config: chooseArmEncoding(config, arm) }, fit);
    encoders.set(computeHash(chosen.identity), chosen);
  };
  const { fit } = splitTuningQueries(dataset, config);
  for (const arm of config.arms.filter(({ name }) => names.includes(name))) {
    addEncoder(arm, dataset.devConversations);
    for (const above of tuning.listTunedChain(arm.name)) addEncoder(above, fit);
  }
  const texts = listSharedTexts(dataset);
  for (const encoder of encoders.values()) await offerVectors(encoder, join(cacheFolder, 'embeddings'), texts, blobs);
  const local = new StageCache(cacheFolder);
  for (const stage of listCertainStagesOf(runner, names)) await offerStage(local, blobs, stage);
}

/**
 * Offers what other machines need to run arms.
 *
 * @returns the files that the folder of the run needs there besides its own.
 * @throws ValidationError for a config that needs files of this machine, and for data that the store has no room for;
 *   SensitiveTextError for texts that must stay on this machine.
 */
export async function offerData(
  runner: ArmRunner,
  arms: readonly string[],
  blobs: BlobStore,
): Promise<Readonly<Record<string, string>>> {
  assertOfferable(runner.source.config, arms);
  assertUnsensitive(runner.dataset);
  const bytes = encodeDataset(runner.dataset);
  const name = `datasets/${computeHash(bytes)}`;
  if (!(await blobs.put(name, bytes)))
    throw new ValidationError(
      `data of ${formatMegabytes(bytes.byteLength)} does not fit into the queue; set launcher.blobMebibytes higher, or wait for a day until unused blobs are deleted`,
    );
  await offerCache(runner, arms, blobs);
  return { [DATA_NAME]: name };
}
