import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { ValidationError } from '../../core/errors/errors.ts';
import { readText } from '../../core/files/files.ts';
import { readJsonLines } from '../../core/files/text-lines.ts';
import { computeHash } from '../../core/hash/hash.ts';
import { check, parse } from '../../core/validation/validation.ts';
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
import type { Corpus } from '../../model/turns/corpus.ts';
import { restoreSlices, type SliceRefusal } from '../../rank/retrieval/packed-slices.ts';
import type { RecordedSlices } from './arm-record.ts';

/** The folder of the slices in a run's folder. */
export const SLICES = 'slices';
export const KEYS = join(SLICES, 'keys.json');

const keysSchema = z.strictObject({
  /** Of `kernel: local`, Ed25519 in hex; null without an arm that has it. */
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

/** @throws ValidationError if the records in a folder were made with slices of another key, or with other stored slices. */
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

/** The slices that a run has stored. They answer the questions that they were the answers to; whoever asks verifies them. */
export class ReplayedSlices implements SliceAuthority {
  readonly keys: SliceKeys;
  /** Of all that was stored. */
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
