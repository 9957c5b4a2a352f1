import { ValidationError } from '../../core/errors/errors.ts';
import type { BlobStore } from '../../core/files/blob-store.ts';
import { formatMegabytes } from '../../core/files/files.ts';
import { computeHash } from '../../core/hash/hash.ts';
import { encodeDataset } from '../../data/prepared/dataset-bytes.ts';
import { findEncoderFiles } from '../../index/encoders/registry.ts';
import { isPlain } from '../composition/config-file.ts';
import type { ExperimentConfig } from '../config/config.ts';
import type { ArmRunner } from './arm-runner.ts';

/** The file that names the blob of the data. */
export const DATA_NAME = 'dataset.txt';

/** What an arm reads from a file of this machine that is not in the resolved config; null if there is none. */
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

/**
 * Offers what other machines need to run arms.
 *
 * @returns the files that the folder of the run needs there besides its own.
 * @throws ValidationError for a config that needs files of this machine, and for data that the store has no room for.
 */
export async function offerData(
  runner: ArmRunner,
  arms: readonly string[],
  blobs: BlobStore,
): Promise<Readonly<Record<string, string>>> {
  assertOfferable(runner.source.config, arms);
  const bytes = encodeDataset(runner.dataset);
  const name = `datasets/${computeHash(bytes)}`;
  if (!(await blobs.put(name, bytes)))
    throw new ValidationError(
      `data of ${formatMegabytes(bytes.byteLength)} does not fit into the queue; set launcher.blobMebibytes higher, or wait for a day until blobs that nobody reads are deleted`,
    );
  return { [DATA_NAME]: name };
}
