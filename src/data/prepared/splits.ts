import { computeHash } from '../../core/hash/hash.ts';
import type { Split } from '../../model/dataset.ts';
import { compareBytes } from '../../model/turns/tie-rule.ts';

/**
 * Puts a question into dev or test by a hash of its id, about half in each: neither the order of a file nor the other
 * questions matter.
 */
export function chooseSplitByHash(id: string): Split {
  return Number.parseInt(computeHash(id).charAt(0), 16) < 8 ? 'dev' : 'test';
}

/** Share of the conversations that are for development. */
const DEV_SHARE = 0.7;

export interface Start {
  readonly id: string;
  /** Time of the first turn, in milliseconds since 1970-01-01 UTC. */
  readonly timestamp: number;
}

/** By time of the first turn, ids by bytes if times are equal. */
function compareStarts(a: Start, b: Start): number {
  return a.timestamp - b.timestamp || compareBytes(a.id, b.id);
}

/**
 * The first conversation of the test part: the first 70 % of those that are counted come before it. Whatever starts
 * before it is for development, so that nothing learned there has seen a test conversation.
 *
 * @returns null if no conversation is left for test.
 */
export function findTestStart(counted: readonly Start[]): Start | null {
  return [...counted].sort(compareStarts)[Math.floor(DEV_SHARE * counted.length)] ?? null;
}

export function isDev(start: Start, first: Start | null): boolean {
  return first === null || compareStarts(start, first) < 0;
}
