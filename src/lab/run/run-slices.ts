import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { getOrCompute } from '../../core/values/once.ts';
import type { HttpAuthority } from '../../kernel/client/http-authority.ts';
import { AdmissibilityError } from '../../kernel/signatures/admissibility-error.ts';
import type { SliceAuthority } from '../../kernel/signatures/slice-export.ts';
import type { SliceOptions } from '../../kernel/slices/slice-options.ts';
import type { SliceSource, SliceTrust } from '../../kernel/slices/slice-source.ts';
import type { ExperimentConfig } from '../config/config.ts';
import type { LocalKernel, TemporaryFolder } from './local-kernel.ts';
import type { ReplayedSlices, SliceKeys } from './replayed-slices.ts';

/** Of one question to a kernel of a URL, with its attempts. */
const TIMEOUT_SECONDS = 60;

/** What is known of the slices of a run that another process has begun: slices come from the cache, where that process has put them. */
export class BegunSlices implements SliceSource {
  readonly #keys: SliceKeys | null;

  constructor(keys: SliceKeys | null) {
    this.#keys = keys;
  }

  findTrust({ kernel, publicKey }: SliceOptions): SliceTrust {
    const own = this.#keys?.publicKey ?? null;
    const publicKeys = kernel === 'local' ? (own === null ? [] : [own]) : (publicKey ?? []);
    return { publicKeys, replayed: this.#keys?.replayed ?? null };
  }

  openAuthority({ policy }: SliceOptions): Promise<SliceAuthority> {
    return Promise.reject(
      new AdmissibilityError(
        'kernel-unreachable',
        `slices of policy ${policy.id} are not in the cache, and this process has no kernel; run again with --retry-failed`,
      ),
    );
  }
}

function listSlices({ arms }: ExperimentConfig): SliceOptions[] {
  return arms.flatMap(({ slice }) => (slice ? [slice] : []));
}

/** What a run of a config would trust, without starting anything; keys that a local kernel has not made yet are none. */
export async function findPlannedSlices(config: ExperimentConfig, cacheFolder: string): Promise<SliceSource> {
  const keyFile = joinKeyPath(cacheFolder);
  const isKnown = existsSync(keyFile) && listSlices(config).some(({ kernel }) => kernel === 'local');
  const publicKey = isKnown ? await (await import('./local-kernel.ts')).readLocalKey(keyFile) : null;
  return new BegunSlices({ publicKey, replayed: null });
}

const joinKeyPath = (folder: string) => join(folder, 'kernel', 'keys.json');

interface RunSlicesOptions {
  readonly config: ExperimentConfig;
  /** Where the keys of local kernels are kept, `kernel/keys.json`; null makes keys for this run alone. */
  readonly cacheFolder: string | null;
  /** Stored slices, which are used in the place of kernels. */
  readonly replay: ReplayedSlices | null;
  /** True if the config leads to the dataset, so that a local kernel can load it. */
  readonly isLoadable: boolean;
}

/** The kernels of a run, started or asked on first use; to be closed at its end. */
export class RunSlices implements SliceSource {
  readonly keys: SliceKeys;
  readonly #begun: BegunSlices;
  readonly #options: RunSlicesOptions;
  readonly #keyFile: string;
  readonly #temporary: TemporaryFolder | null;
  #local: Promise<LocalKernel> | null = null;
  readonly #remote = new Map<string, HttpAuthority>();

  private constructor(options: RunSlicesOptions, keys: SliceKeys, keyFile: string, temporary: TemporaryFolder | null) {
    this.keys = keys;
    this.#begun = new BegunSlices(keys);
    this.#options = options;
    this.#keyFile = keyFile;
    this.#temporary = temporary;
  }

  /** null for a config without slices. @throws AdmissibilityError for keys that cannot be used. */
  static async open(options: RunSlicesOptions): Promise<RunSlices | null> {
    const { config, cacheFolder, replay, isLoadable } = options;
    const slices = listSlices(config);
    if (slices.length === 0) return null;
    if (replay !== null)
      return new RunSlices(options, { publicKey: replay.keys.publicKey, replayed: replay.hash }, '', null);
    if (slices.every(({ kernel }) => kernel !== 'local'))
      return new RunSlices(options, { publicKey: null, replayed: null }, '', null);
    if (!isLoadable)
      throw new AdmissibilityError(
        'kernel-unreachable',
        'a local kernel loads its dataset by itself, and this one is in memory; set slice.kernel to the URL of a kernel',
      );
    const { readLocalKey, TemporaryFolder } = await import('./local-kernel.ts');
    const temporary = cacheFolder === null ? new TemporaryFolder('ragpp-keys-') : null;
    const keyFile = joinKeyPath(cacheFolder ?? (temporary?.path as string));
    const keys = { publicKey: await readLocalKey(keyFile), replayed: null };
    return new RunSlices(options, keys, keyFile, temporary);
  }

  findTrust(slice: SliceOptions): SliceTrust {
    return this.#begun.findTrust(slice);
  }

  async openAuthority({ kernel }: SliceOptions): Promise<SliceAuthority> {
    const { replay } = this.#options;
    if (replay !== null) return replay;
    if (kernel === 'local') return (await this.#startLocal()).authority;
    const { createHttpAuthority } = await import('../../kernel/client/http-authority.ts');
    return getOrCompute(this.#remote, kernel, () =>
      createHttpAuthority({ baseUrl: kernel, timeoutSeconds: TIMEOUT_SECONDS }),
    );
  }

  #startLocal(): Promise<LocalKernel> {
    const { config, cacheFolder } = this.#options;
    const policies = listSlices(config).flatMap(({ kernel, policy }) => (kernel === 'local' ? [policy] : []));
    const options = { config, policies, keyFile: this.#keyFile, cacheFolder };
    this.#local ??= import('./local-kernel.ts').then(({ LocalKernel }) => LocalKernel.start(options));
    return this.#local;
  }

  /** Ends what was started. */
  async close(): Promise<void> {
    for (const authority of this.#remote.values()) authority.close();
    const local = await this.#local?.catch(() => null); // whoever asked knows
    await local?.close();
    this.#temporary?.remove();
  }
}
