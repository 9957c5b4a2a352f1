import { hashShingles, splitIntoTokens, type Vocabulary } from './shingles.ts';

/** Length of the runs of words that two mails do not share by chance. */
const RUN = 8;
/** A line at least this covered by runs of an earlier mail is that mail's. */
const COVERED = 0.5;

/** A set of JavaScript holds 2^24 values; the runs of a large archive are more. */
const SHARDS = 64;

/** A set of runs, in parts. */
class RunSet {
  readonly #shards: readonly Set<number>[] = Array.from({ length: SHARDS }, () => new Set());

  add(run: number): void {
    this.#shards[run % SHARDS]?.add(run);
  }

  has(run: number): boolean {
    return this.#shards[run % SHARDS]?.has(run) ?? false;
  }
}

/** The lines of earlier mails: mails are added in time order, and each reports which of its lines an earlier mail contains. */
export class EarlierBodies {
  readonly #runs = new RunSet();
  readonly #vocabulary: Vocabulary;

  constructor(vocabulary: Vocabulary) {
    this.#vocabulary = vocabulary;
  }

  /** Adds a raw body, quotes and all. O(tokens). */
  add(body: string): void {
    for (const run of hashShingles(this.#vocabulary.encode(splitIntoTokens(body)), RUN)) this.#runs.add(run);
  }

  /** The lines that are less than half covered by runs of earlier bodies. O(tokens). */
  selectUnsaidLines(lines: readonly string[]): string[] {
    const tokens = lines.map(splitIntoTokens);
    const covered = this.#markCoveredTokens(tokens.flat());
    let start = 0;
    return lines.filter((_, i) => {
      const length = (tokens[i] as string[]).length;
      const end = start + length;
      const count = covered.subarray(start, end).reduce((sum, flag) => sum + flag, 0);
      start = end;
      return length === 0 || count < COVERED * length;
    });
  }

  /** [T] 1 if a token is in a run of an earlier body. */
  #markCoveredTokens(tokens: readonly string[]): Uint8Array {
    const covered = new Uint8Array(tokens.length);
    for (const [start, run] of hashShingles(this.#vocabulary.encode(tokens), RUN).entries())
      if (this.#runs.has(run)) covered.fill(1, start, start + RUN);
    return covered;
  }
}
