import { z } from 'zod';
import { ValidationError } from '../../core/errors/errors.ts';
import { parse } from '../../core/validation/validation.ts';

const moment = z.int();
const hash = z.string().regex(/^[0-9a-f]{32}$/, '32 hex digits');

const retrievalSchema = z.strictObject({
  kind: z.literal('retrieval'),
  query: hash,
  session: hash.nullable(),
  retrieved: z.array(hash),
  strategy: z.string().min(1),
  propensity: z.number().gt(0).max(1),
  teams: z.array(z.enum(['a', 'b'])).nullable(),
  time: moment,
});
const useSchema = z.strictObject({ kind: z.literal('use'), of: z.int().min(1), used: z.array(hash), time: moment });
const entrySchema = z.discriminatedUnion('kind', [retrievalSchema, useSchema]);

/** An entry of the log: a retrieval, or what of an earlier one was of use. */
export type RetrievalLogEntry = z.output<typeof entrySchema>;

/** A retrieval as it is logged. Query, session and ids are hashes under the key of the log: 32 hex digits each. */
export interface RetrievalEvent {
  /** The number of the event in the log. */
  readonly event: number;
  readonly query: string;
  /** null: of no session. */
  readonly session: string | null;
  /** Best first. */
  readonly retrieved: readonly string[];
  /** What was of use, in the order of `retrieved`; null: not known. */
  readonly used: readonly string[] | null;
  /** The name of what chose the ranking. */
  readonly strategy: string;
  /** The probability with which it was chosen. */
  readonly propensity: number;
  /** Of an interleaved ranking: which system chose each place. */
  readonly teams: readonly ('a' | 'b')[] | null;
  /** Milliseconds since 1970, as the caller gave them. */
  readonly time: number;
}

/** An entry without the hashes of some memories; the same entry if it has none of them. */
export function forgetRetrieved(entry: RetrievalLogEntry, hashes: ReadonlySet<string>): RetrievalLogEntry {
  const isKept = (hashed: string) => !hashes.has(hashed);
  if (entry.kind === 'use') return entry.used.every(isKept) ? entry : { ...entry, used: entry.used.filter(isKept) };
  const { retrieved, teams } = entry;
  if (retrieved.every(isKept)) return entry;
  const keptTeams = teams?.filter((_, i) => isKept(retrieved[i] as string)) ?? null;
  return { ...entry, retrieved: retrieved.filter(isKept), teams: keptTeams };
}

export const encodeLogEntry = (entry: RetrievalLogEntry): Uint8Array => Buffer.from(JSON.stringify(entry));

/** @throws ValidationError with the number of the entry. */
export function decodeLogEntry(payload: Uint8Array, sequence: number): RetrievalLogEntry {
  try {
    return parse(entrySchema, JSON.parse(Buffer.from(payload).toString('utf8')), `entry ${sequence}`);
  } catch (cause) {
    const remedy = 'open the folder with the program that wrote it';
    throw new ValidationError(`entry ${sequence} is of no log of retrievals; ${remedy}`, { sequence }, { cause });
  }
}
