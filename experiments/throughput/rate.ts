import { median } from '../../bench/timing.ts';
import { TOTAL, timeQueries } from '../../src/lab/measure/latency.ts';
import type { RankOptions } from '../../src/rank/retrieval/written-steps.ts';
import type { Workspace } from '../../src/rank/signals/workspace.ts';

interface RateOptions {
  /** Indexes of the queries in the workspace, in the order of their use. */
  readonly asked: readonly number[];
  /** The number of rounds; the median counts. */
  readonly rounds: number;
  /** Places of a ranking. */
  readonly depth: number;
}

/** Queries a second, put in batches of `size`. */
export async function measureRate(
  workspace: Workspace,
  arm: RankOptions,
  size: number,
  { asked, rounds, depth }: RateOptions,
): Promise<number> {
  const seconds: number[] = [];
  for (let round = 0; round < rounds; round++) {
    let milliseconds = 0;
    for (let start = 0; start < asked.length; start += size) {
      const times = await timeQueries(workspace, arm, depth, asked.slice(start, start + size));
      milliseconds += times.get(TOTAL) as number;
    }
    seconds.push(milliseconds / 1000);
  }
  return asked.length / median(seconds);
}
