import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BackendName } from '../../src/core/tensors/active-backend.ts';
import type { Candidates } from '../../src/model/candidates.ts';

/** `small` takes seconds, `published` is that of docs/performance.md. */
export const PEER_SIZES = ['small', 'published'] as const;
export type PeerSize = (typeof PEER_SIZES)[number];

/** Another program that does the same works. */
export interface Peer {
  readonly name: string;
  /** The list of its packages, a file of bench/peers. */
  readonly requirements: string;
  /** The works of the group that it does; absent: all. */
  readonly works?: readonly string[];
}

/** Differences between the results of two sides. */
export interface Comparison {
  readonly compared: number;
  /** The number of values that differ by more than the work allows: 0 if both did the same. */
  readonly differ: number;
  /** The largest difference of values that count as equal, or the recall of both. */
  readonly note: string;
}

/** Numbers of a result, in an order that does not depend on the side. */
export type Result = Float64Array;
/** Does a work. @returns what makes the numbers of its result, which is not timed. */
export type DoWork = () => Promise<GiveResult> | GiveResult;
export type GiveResult = () => Promise<Result> | Result;

/**
 * Works on the same data, done by one process of each side: ours by {@link open}, that of a peer by the script of the
 * group's name in bench/peers/works, which takes the folder and the name of the peer.
 */
export interface WorkGroup {
  /** In the order in which they are done: a work may use what an earlier one made. */
  listWorks(size: PeerSize): readonly string[];
  readonly peers: readonly Peer[];
  /** The sizes of the data, in a few words. */
  describe(size: PeerSize): string;
  /** Writes the data that all sides read. */
  prepare(folder: string, size: PeerSize, seed: number): void | Promise<void>;
  /** Our side: a function for each work of the folder's size. Works of tensors compute on the backend. */
  open(folder: string, backend: BackendName): Promise<Readonly<Record<string, DoWork>>>;
  compare(work: string, ours: Result, theirs: Result, folder: string): Comparison;
}

const SETTINGS = 'settings.json';

export function writeSettings(folder: string, settings: object): void {
  writeFileSync(join(folder, SETTINGS), JSON.stringify(settings));
}

export function readSettings<T>(folder: string): T {
  return JSON.parse(readFileSync(join(folder, SETTINGS), 'utf8')) as T;
}

function readBytes(folder: string, file: string): ArrayBuffer {
  const { buffer, byteOffset, byteLength } = readFileSync(join(folder, file));
  return buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer;
}

export const readFloats = (folder: string, file: string) => new Float32Array(readBytes(folder, file));
export const readIntegers = (folder: string, file: string) => new Int32Array(readBytes(folder, file));
export const readDoubles = (folder: string, file: string) => new Float64Array(readBytes(folder, file));

/**
 * Compares number by number. Equal are a and b with |a - b| <= tolerance max(1, |b|), and two numbers that are not
 * numbers; a number that one side lacks differs.
 */
export function compareNumbers(ours: ArrayLike<number>, theirs: ArrayLike<number>, tolerance: number): Comparison {
  const compared = Math.max(ours.length, theirs.length);
  let [differ, largest] = [0, 0];
  for (let i = 0; i < compared; i++) {
    const [a, b] = [ours[i] ?? Number.POSITIVE_INFINITY, theirs[i] ?? Number.NEGATIVE_INFINITY];
    if (Object.is(a, b)) continue;
    const difference = Math.abs(a - b) / Math.max(1, Math.abs(b));
    if (!(difference <= tolerance)) differ++;
    else largest = Math.max(largest, difference);
  }
  return { compared, differ, note: largest === 0 ? 'equal' : `within ${largest.toExponential(1)}` };
}

/** Position and score of each rank of each query; -1 and 0 without a candidate. */
export function listRankings({ positions, scores }: Candidates): Result {
  const result = new Float64Array(2 * positions.length);
  for (let i = 0; i < positions.length; i++) {
    result[2 * i] = positions[i]!;
    result[2 * i + 1] = positions[i]! < 0 ? 0 : scores[i]!;
  }
  return result;
}

/**
 * Compares rankings: position and score of each rank of each query. A score may differ by tolerance max(1, |score|). A
 * position may differ only where the score of a neighbouring rank is as close as that, or at the last rank.
 *
 * @param k ranks of each query.
 */
export function compareRankings(ours: Result, theirs: Result, k: number, tolerance: number): Comparison {
  const scores = (result: Result) => result.filter((_, i) => i % 2 === 1);
  const [own, other] = [scores(ours), scores(theirs)];
  const isClose = (a: number, b: number | undefined) =>
    b !== undefined && Math.abs(a - b) <= tolerance * Math.max(1, Math.abs(a));
  const { compared, differ, note } = compareNumbers(own, other, tolerance);
  let [moved, ties] = [0, 0];
  for (let i = 0; i < Math.min(own.length, other.length); i++) {
    if (ours[2 * i] === theirs[2 * i]) continue;
    const rank = i % k;
    const isTied = (rank > 0 && isClose(own[i]!, own[i - 1])) || rank === k - 1 || isClose(own[i]!, own[i + 1]);
    if (isTied) ties++;
    else moved++;
  }
  return {
    compared: 2 * compared,
    differ: differ + moved,
    note: ties === 0 ? note : `${note}, ${ties} places by ties`,
  };
}
