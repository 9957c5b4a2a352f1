import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { writeAtomic } from '../../../core/files/files.ts';
import { useBackend } from '../../../core/tensors/backend.ts';
import type { StartProgress } from '../../../core/terminal/progress.ts';
import { yaml } from '../../../core/values/yaml.ts';
import { withFoundPath } from '../../../data/prepared/prepared.ts';
import { loadDataset } from '../../../data/registry.ts';
import { type ExperimentConfig, openConfig } from '../../../lab/config/config.ts';
import { serveArm } from '../../../lab/run/served-arm.ts';
import type { ServedArm } from '../../../memory/engine/served-arm.ts';
import type { Encoder } from '../../../model/encoder.ts';
import type { Qrels } from '../../../model/run.ts';

/** The file beside the records with the config of the arm that answers. */
const locateArm = (folder: string) => join(folder, 'arm.yaml');

export const hasArm = (folder: string): boolean => existsSync(locateArm(folder));

/** The dataset of a config with paths from the root, so that the config may be read from anywhere. */
function locateData(dataset: ExperimentConfig['dataset']): object {
  const located = withFoundPath(dataset) as { readonly path?: unknown };
  return typeof located.path === 'string' ? { ...located, path: resolve(located.path) } : located;
}

/** Keeps the config of one arm, which later commands answer by. @throws StorageError. */
export function writeArm(folder: string, config: ExperimentConfig): void {
  writeAtomic(locateArm(folder), yaml().stringify({ ...config, dataset: locateData(config.dataset) }));
}

/** The part of an encoder that embeds records. */
export interface TextEncoder extends Pick<Encoder, 'dimension' | 'encode'> {
  dispose(): void | Promise<void>;
}

/** The encoder of the arm of a folder that has one. */
export async function openArmEncoder(
  folder: string,
  cacheFolder: string,
  progress: StartProgress,
): Promise<TextEncoder> {
  const { dimension, embed, dispose } = (await openFolderArm(folder, cacheFolder, progress)) as ServedArm;
  return {
    dimension,
    encode: async (texts, _, { owners = [] } = {}) => (await embed(texts, owners, null)).vectors,
    dispose,
  };
}

/** The arm that a folder answers by; null for a folder without one. The caller disposes it. */
export async function openFolderArm(
  folder: string,
  cacheFolder: string,
  progress: StartProgress,
): Promise<ServedArm | null> {
  if (!hasArm(folder)) return null;
  const config = await openConfig(locateArm(folder));
  await useBackend(config.backend);
  return serveArm(config, config.evaluation.baseline, { cacheFolder, progress });
}

/**
 * The judgements of the dataset of a folder's arm; null for a folder without an arm.
 *
 * @throws what loading the dataset throws.
 */
export async function readArmJudgements(
  folder: string,
  cacheFolder: string,
  progress: StartProgress,
): Promise<Qrels | null> {
  if (!hasArm(folder)) return null;
  const { dataset } = await openConfig(locateArm(folder));
  return (await loadDataset(dataset, { cacheFolder, progress })).qrels;
}
