import { createRandom } from '../src/core/numbers/random.ts';
import { ConservationStream } from '../src/ops/conservation/conservation-stream.ts';
import { type ConservationWorkload, computeExactFigures, measureRelativeError } from './conservation-workload.ts';

/** Records that the memory holds when it is full. */
const CAPACITY = 4096;

export interface StreamMeasurement {
  readonly operations: number;
  readonly addsPerSecond: number;
  readonly removesPerSecond: number;
  /** Readings of the figures. */
  readonly readingsPerSecond: number;
  /** The relative error of the running figures against exact figures of the remaining records. */
  readonly drift: number;
}

/** The live records as a memory of their own, in the order of their entry. */
function selectLiveRecords(
  { embeddings, salience, dimension }: ConservationWorkload,
  live: readonly number[],
): ConservationWorkload {
  const rows = new Float32Array(live.length * dimension);
  for (const [i, record] of live.entries())
    rows.set(embeddings.subarray(record * dimension, (record + 1) * dimension), i * dimension);
  return { dimension, embeddings: rows, salience: Float64Array.from(live, (record) => salience[record]!) };
}

/** Fills a memory, then lets records leave and enter at random. */
export function measureStream(load: ConservationWorkload, operations: number, seed: number): StreamMeasurement {
  const { embeddings, salience, dimension } = load;
  const stream = new ConservationStream(dimension);
  const source = createRandom(seed, 'conservation stream');
  const waiting = source.shuffle(Array.from(salience.keys()));
  const live: number[] = [];
  const spent = { add: 0, remove: 0 };
  let adds = 0;
  const addSpentTime = (kind: keyof typeof spent, work: () => void) => {
    const start = performance.now();
    work();
    spent[kind] += performance.now() - start;
  };
  for (let operation = 0; operation < operations; operation++) {
    const removes =
      waiting.length === 0 || live.length >= CAPACITY || (live.length > CAPACITY / 2 && source.uniform() < 0.5);
    const [from, to] = removes ? [live, waiting] : [waiting, live];
    const place = source.integer(from.length);
    const record = from[place]!;
    from[place] = from.at(-1)!;
    from.pop();
    to.push(record);
    if (removes) addSpentTime('remove', () => stream.remove(`${record}`));
    else {
      const embedding = embeddings.subarray(record * dimension, (record + 1) * dimension);
      addSpentTime('add', () => stream.add(`${record}`, embedding, salience[record]!));
      adds++;
    }
  }
  return {
    operations,
    addsPerSecond: (1000 * adds) / spent.add,
    removesPerSecond: (1000 * (operations - adds)) / spent.remove,
    readingsPerSecond: measureReadingRate(stream),
    drift: measureRelativeError(
      stream.computeStreamMetrics(),
      computeExactFigures(selectLiveRecords(load, live), live.length),
    ),
  };
}

function measureReadingRate(stream: ConservationStream): number {
  const readings = 1000;
  const start = performance.now();
  for (let i = 0; i < readings; i++) stream.computeStreamMetrics();
  return (1000 * readings) / (performance.now() - start);
}
