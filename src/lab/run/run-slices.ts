import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { ValidationError } from '../../core/errors/errors.ts';
import { readText } from '../../core/files/files.ts';
import { readJsonLines } from '../../core/files/text-lines.ts';
import { computeHash } from '../../core/hash/hash.ts';
import { check, parse } from '../../core/validation/validation.ts';
import { getOrCompute } from '../../core/values/once.ts';
import type { HttpAuthority } from '../../kernel/client/http-authority.ts';
import { AdmissibilityError } from '../../kernel/signatures/admissibility-error.ts';
import { publicKeySchema } from '../../kernel/signatures/kernel-keys.ts';
import {
  type SliceAuthority,
  type SliceExport,
  type SliceRequestInput,
  type SliceScope,
  sliceExportSchema,
  slicePayloadSchema,
  sliceRequestSchema,
} from '../../kernel/signatures/slice-export.ts';
import type { SliceOptions, SliceSource, SliceTrust } from '../../kernel/slices/slice-options.ts';
import type { Corpus } from '../../model/turns/corpus.ts';
import {
  joinLists,
  listSlicePositions,
  restoreSlices,
  type SignedSlices,
  type SliceAnswer,
  type SliceRefusal,
} from '../../rank/retrieval/packed-slices.ts';
import { openSlices, signedSlices } from '../../rank/retrieval/signed-slices.ts';
import { type RankOptions, readArm } from '../../rank/retrieval/written-steps.ts';
import type { Workspace } from '../../rank/signals/workspace.ts';
import type { ExperimentConfig } from '../config/config.ts';
import type { RecordedSlices } from './arm-record.ts';
import type { LocalKernel, TemporaryFolder } from './local-kernel.ts';

/** The slices of an arm in a workspace, signed and verified; null for an arm without any. */
async function readSlices(workspace: Workspace, arm: RankOptions): Promise<RecordedSlices | null> {
  const { slice } = readArm(arm).outline.view;
  if (slice === null) return null;
  await openSlices(workspace, slice);
  const signed = await workspace.get(signedSlices(slice));
  return { ...signed, queries: workspace.queries.map(({ id }) => id) };
}

/** The slices of some arms in their workspaces, joined in the order of the arms; null if none has any. */
export async function collectSlices(
  uses: readonly { readonly workspace: Workspace; readonly arm: RankOptions }[],
): Promise<RecordedSlices | null> {
  const found = await Promise.all(uses.map(({ workspace, arm }) => readSlices(workspace, arm)));
  const all = found.filter((slices) => slices !== null);
  if (all.length === 0) return null;
  const lists = all.flatMap(listSlicePositions);
  const answers = all.flatMap((slices) => slices.answers);
  return { ...joinLists(lists, answers), queries: all.flatMap(({ queries }) => queries) };
}

/** The slices of some of the recorded queries. @param ids of the first queries of the record, each once. */
export function selectSlices(recorded: RecordedSlices, ids: readonly string[]): SignedSlices {
  const rowOf = new Map<string, number>();
  for (const [row, id] of recorded.queries.entries()) if (!rowOf.has(id)) rowOf.set(id, row);
  const lists = listSlicePositions(recorded);
  const chosen = ids.map((id) => rowOf.get(id) as number);
  return joinLists(
    chosen.map((row) => lists[row] as Int32Array),
    chosen.map((row) => recorded.answers[row] as SliceAnswer),
  );
}

/** The folder of the slices in a run's folder. */
export const SLICES = 'slices';
export const KEYS = join(SLICES, 'keys.json');

const keysSchema = z.strictObject({
  /** The key of `kernel: local`, Ed25519 in hex; null without an arm that has it. */
  publicKey: publicKeySchema.nullable(),
  /** Hash of the stored slices that were used; null: a kernel signed them for this run. */
  replayed: z.string().nullable(),
});

/** Whose slices a run trusts, besides the keys of its config. */
export type SliceKeys = z.output<typeof keysSchema>;

/** null for a run without slices. @throws ConfigurationError, StorageError. */
export function readSliceKeys(runFolder: string): SliceKeys | null {
  const path = join(runFolder, KEYS);
  return existsSync(path) ? parse(keysSchema, parseJson(readText(path), path), path) : null;
}

export function formatSliceKeys(keys: SliceKeys): string {
  return `${JSON.stringify(keys, null, 2)}\n`;
}

/**
 * @throws ValidationError if the records in a folder were made with slices of another key, or with other stored slices.
 */
export function assertSameSliceKeys(runFolder: string, keys: SliceKeys | null): void {
  const begun = readSliceKeys(runFolder);
  if (begun !== null && computeHash(begun) !== computeHash(keys))
    throw new ValidationError(
      `run cannot be resumed, since it was begun with slices of another key or other stored slices: ${runFolder}; run again without --resume`,
      { runFolder },
    );
}

function parseJson(text: string, where: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new AdmissibilityError('malformed', `no JSON: ${where}; run without --replay-slices`);
  }
}

/** A line for each query: the slice as it was signed, or what was refused. */
export function encodeSliceLines(slices: RecordedSlices, corpus: Corpus): Uint8Array {
  const lines = restoreSlices(slices, corpus).map((answer, i) =>
    Buffer.from(`${JSON.stringify({ query: slices.queries[i], ...answer })}\n`),
  );
  return Buffer.concat(lines);
}

const query = z.string();
const lineSchema = z.union([
  sliceExportSchema.extend({ query }),
  slicePayloadSchema
    .pick({ policyRef: true, scope: true, issuedAt: true })
    .extend({ query, refused: z.literal('no-anchor') }),
]);

const hashQuestion = (policyRef: string, scope: SliceScope, asOf: number | null) =>
  computeHash([policyRef, scope, asOf]);

/**
 * The slices that a run has stored. They answer the questions that they were the answers to; whoever asks verifies
 * them.
 */
export class ReplayedSlices implements SliceAuthority {
  readonly keys: SliceKeys;
  /** The hash of everything that was stored. */
  readonly hash: string;
  readonly #folder: string;
  readonly #answers = new Map<string, SliceExport | SliceRefusal>();

  /** @throws ValidationError for a run without slices, AdmissibilityError for a line that is none. */
  constructor(runFolder: string) {
    const keys = readSliceKeys(runFolder);
    if (keys === null)
      throw new ValidationError(`run has stored no slices: ${runFolder}; name one whose arms have slice`, {
        runFolder,
      });
    this.keys = keys;
    this.#folder = join(runFolder, SLICES);
    const files = readdirSync(this.#folder).filter((name) => name.endsWith('.jsonl'));
    for (const name of files.sort()) readJsonLines(join(this.#folder, name), (line, where) => this.#add(line, where));
    this.hash = computeHash([...this.#answers].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  #add(line: string, where: string): void {
    const read = check(lineSchema, parseJson(line, where));
    if ('faults' in read) {
      const [{ path, expected, got }] = read.faults as [(typeof read.faults)[number]];
      throw new AdmissibilityError(
        'malformed',
        `stored slice is malformed at ${path}: expected ${expected}, got ${got}: ${where}; run without --replay-slices`,
      );
    }
    const { query: _, ...answer } = read.value;
    this.#answers.set(hashQuestion(answer.policyRef, answer.scope, answer.issuedAt), answer);
  }

  async slice(input: SliceRequestInput): Promise<SliceExport> {
    const { policyRef, scope, asOf } = parse(sliceRequestSchema, input, 'request of a slice');
    const answer = this.#answers.get(hashQuestion(policyRef, scope, asOf));
    if (answer === undefined)
      throw new AdmissibilityError(
        'kernel-refused',
        `no slice of policy ${policyRef} as of ${asOf} for this scope in ${this.#folder}; run without --replay-slices`,
        { policyRef, scope, asOf },
      );
    if (!('refused' in answer)) return answer;
    throw new AdmissibilityError(answer.refused, 'query was refused in the stored run; name an anchor', { scope });
  }

  /** The token is checked by the kernel alone. */
  async verify(): Promise<void> {
    throw new AdmissibilityError('kernel-unreachable', 'stored slices have no kernel; verify them by their signatures');
  }
}

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

/**
 * The kernels of an experiment whose data is that of its config; null without slices.
 *
 * @throws as {@link RunSlices.open}.
 */
export function openConfigSlices(
  config: ExperimentConfig,
  { cacheFolder, dataset }: { readonly cacheFolder: string | null; readonly dataset?: unknown },
): Promise<RunSlices | null> {
  return RunSlices.open({ config, cacheFolder, replay: null, isLoadable: dataset === undefined });
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
