import { z } from 'zod';
import { computeHash } from '../../core/hash/hash.ts';
import type { Dataset, Query } from '../../model/dataset.ts';
import { groupContentHashes } from './cluster-conversations.ts';

/** Digits of a hash that are kept. */
const DIGITS = 16;
/** Content hashes that are kept of a test split, the smallest ones: some remain when conversations are added. */
const KEPT_CONTENTS = 16;

export const splitSchema = z.strictObject({
  /** The name of the dataset. */
  dataset: z.string(),
  /** The hash of the data; absent for a look of which only the dataset's name is known. */
  data: z.string().optional(),
  /** Content hashes of some test conversations; without any, the dataset's name decides. */
  contents: z.array(z.string()).optional(),
  /** The measured test queries: how many, and the hash of their ids in any order. */
  queries: z.strictObject({ count: z.int().min(1), hash: z.string() }).optional(),
});
/** The identity by which looks are counted. */
export type TestSplit = z.output<typeof splitSchema>;

/** The hash of queries in any order. */
function describeQueries(ids: readonly string[]): TestSplit['queries'] {
  return { count: ids.length, hash: computeHash([...ids].sort()).slice(0, DIGITS) };
}

/** Held-out queries of data that are no dataset; null without any. */
export function describeHeldOut(name: string, dataHash: string, ids: readonly string[]): TestSplit | null {
  if (ids.length === 0) return null;
  return { dataset: name, data: dataHash.slice(0, DIGITS), contents: [], queries: describeQueries(ids) };
}

/** The test queries among those that are measured, with their split; null without any. */
export function describeTestSplit(dataset: Dataset, measured: readonly Query[]): TestSplit | null {
  const test = measured.filter(({ split }) => split === 'test');
  if (test.length === 0) return null;
  const split = dataset.queries.filter((query) => query.split === 'test');
  const contents = [...groupContentHashes({ ...dataset, queries: split }).values()].flat();
  return {
    dataset: dataset.name,
    data: dataset.hash.slice(0, DIGITS),
    contents: [...new Set(contents)].sort().slice(0, KEPT_CONTENTS),
    queries: describeQueries(test.map(({ id }) => id)),
  };
}

/** True for test splits of one dataset, of the same data or with a conversation in common. */
export function isSameSplit(a: TestSplit, b: TestSplit): boolean {
  if (a.dataset !== b.dataset) return false;
  if (a.data !== undefined && a.data === b.data) return true;
  return a.contents === undefined || b.contents === undefined || a.contents.some((hash) => b.contents?.includes(hash));
}

/** True for the same queries of the same data. */
export function isSameQuerySet(a: TestSplit, b: TestSplit): boolean {
  return a.dataset === b.dataset && a.data !== undefined && a.data === b.data && a.queries?.hash === b.queries?.hash;
}
