import { quantile } from '../../core/numbers/distributions.ts';
import { createRandom } from '../../core/numbers/random.ts';
import { letEventsIn } from '../../core/terminal/progress.ts';
import { rank } from '../../rank/retrieval/rank.ts';
import { retrieve, warmUp } from '../../rank/retrieval/retriever.ts';
import type { Watch } from '../../rank/retrieval/steps/step.ts';
import type { RankOptions } from '../../rank/retrieval/written-steps.ts';
import type { Workspace } from '../../rank/signals/workspace.ts';
import type { Latency } from './result.ts';

interface LatencyOptions {
  /** Timed queries; all if there are fewer. */
  readonly queries: number;
  /** Runs of the first of them before it is timed. */
  readonly warmUp: number;
}

/** Milliseconds of each component of one query, in the order in which they were begun, and of all of it. */
type Times = ReadonlyMap<string, number>;

/** The whole, which is more than the sum of the others by what lies between them. */
export const TOTAL = 'total';

/** Where the scores are put together, and where they are ordered. */
const LAST = 'compose and rank';

/** Sums up what parts take; of a part within another the outer one has only the rest. */
export class ComponentClock {
  readonly #milliseconds = new Map<string, number>();
  readonly #now: () => number;
  #inner = 0;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  get times(): Times {
    return this.#milliseconds;
  }

  readonly watch: Watch = async (part, work) => {
    const outer = this.#inner;
    this.#inner = 0;
    this.#milliseconds.set(part, this.#milliseconds.get(part) ?? 0);
    const started = this.#now();
    const result = await work();
    const elapsedMilliseconds = this.#now() - started;
    this.#milliseconds.set(part, (this.#milliseconds.get(part) as number) + elapsedMilliseconds - this.#inner);
    this.#inner = outer + elapsedMilliseconds;
    return result;
  };
}

/** The percentiles of each component over the queries. @param times at least one, all of the same components. */
export function summariseLatency(times: readonly Times[]): Record<string, Latency> {
  const [first] = times as [Times];
  return Object.fromEntries(
    Array.from(first.keys(), (component) => {
      const values = Float64Array.from(times, (one) => one.get(component) as number).sort();
      const [p50, p95, p99] = [0.5, 0.95, 0.99].map((share) => quantile(values, share)) as [number, number, number];
      return [component, { p50, p95, p99 }];
    }),
  );
}

/** A seeded draw of queries by their places, in time order, since an index that has grown is not made smaller. */
function drawQueries({ batch }: Workspace, count: number, seed: number): number[] {
  const queryIndexes = createRandom(seed, 'latency').shuffle([...batch.cutoffs.keys()]);
  return queryIndexes
    .slice(0, count)
    .sort((a, b) => (batch.cutoffs[a] as number) - (batch.cutoffs[b] as number) || a - b);
}

/**
 * Retrieves and ranks for some queries of a workspace at once without cached results, with everything prepared that exists before a query arrives: the
 * corpus on the device, indexes, propagated rows, tables of coordinates.
 */
export async function timeQueries(
  workspace: Workspace,
  arm: RankOptions,
  depth: number,
  queryIndexes: readonly number[],
): Promise<Times> {
  const some = workspace.withQueries(queryIndexes);
  try {
    await warmUp(some, arm);
    await letEventsIn();
    const clock = new ComponentClock();
    const whole = new ComponentClock();
    await whole.watch(TOTAL, async () => {
      const { pool, scores } = await retrieve(some, arm, (part, work) =>
        clock.watch(part === 'compose' ? LAST : part, work),
      );
      const formatTimedQuery = (query: number) => `query ${some.queries[query]?.id}`;
      await clock.watch(LAST, () => rank(pool, scores, depth, formatTimedQuery));
    });
    return new Map([...clock.times, ...whole.times]);
  } finally {
    some.dispose();
  }
}

/**
 * Times an arm, a query at a time, by component: candidates by source, their union (`pool`), signals, and each step of the score. What two components need
 * counts for the first. The embedding of the query is not among them.
 *
 * @param workspace of the queries to draw from, each answered as of its moment.
 * @param depth places of a ranking.
 * @returns milliseconds a query
 */
export async function measureLatency(
  workspace: Workspace,
  arm: RankOptions,
  depth: number,
  { queries, warmUp }: LatencyOptions,
  seed: number,
): Promise<Record<string, Latency>> {
  const queryIndexes = drawQueries(workspace, queries, seed);
  for (let run = 0; run < warmUp; run++) await timeQueries(workspace, arm, depth, queryIndexes.slice(0, 1));
  const times: Times[] = [];
  for (const queryIndex of queryIndexes) times.push(await timeQueries(workspace, arm, depth, [queryIndex]));
  return summariseLatency(times);
}
