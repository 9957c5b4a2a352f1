import { createRandom } from '../../src/core/numbers/random.ts';
import type { NeighbourSeries } from './neighbours.ts';
import { countObserved, type OutcomeSeries } from './outcome-series.ts';

const TOPICS = 3;

interface Drawn {
  readonly turns: number;
  /** The rate of outcome 1 of each of three topics. */
  readonly rates: readonly [number, number, number];
  /** Places of each list. */
  readonly width: number;
}

/**
 * Turns of three topics, one a minute, whose outcomes are known ten minutes later. The neighbours of a turn are the latest known turns of its topic; the first
 * half is dev.
 */
export function drawNeighbourSeries({ turns: count, rates, width }: Drawn): NeighbourSeries {
  const random = createRandom(7, 'prior-calibration');
  const topics = Array.from({ length: count }, () => random.integer(TOPICS));
  const turns: OutcomeSeries['turns'] = topics.map((topic, i) => ({
    id: `t${i}`,
    text: `topic ${topic}`,
    timestamp: i,
    outcome: random.uniform() < (rates[topic] as number) ? 1 : 0,
    cluster: `c${Math.floor(i / 2)}`,
    dev: i < count / 2,
  }));
  const series = { name: 'drawn', source: 'drawn', turns, delay: 10, hash: '', facts: {} };
  const observed = countObserved(series);
  const positions = new Int32Array(count * width).fill(-1);
  const scores = new Float32Array(count * width);
  for (let query = 0; query < count; query++) {
    const known = [...topics.slice(0, observed[query]).keys()].filter((i) => topics[i] === topics[query]);
    for (const [rank, position] of known.reverse().slice(0, width).entries()) {
      positions[query * width + rank] = position;
      scores[query * width + rank] = 1 / (1 + rank);
    }
  }
  return { series, observed, neighbours: { positions, scores, width } };
}
