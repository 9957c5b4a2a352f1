import type { VectorIndexInput } from '../src/index/vectors/registry.ts';
import { openMemory } from '../src/memory/engine/open-memory.ts';
import { countVisible, K, RANK, readMemoryFacts } from './memory-data.ts';
import { addRows, type SearchFigures, summariseTimes } from './memory-index.ts';

type Times = Pick<SearchFigures, 'p50' | 'p99'>;

/** Questions to a memory with one index, one at a time. */
export interface QueryFigures {
  readonly name: string;
  readonly size: number;
  /** Adding the records. */
  readonly addSeconds: number;
  /** By kind: the search of the index alone; candidates with their prior; the same question once more; behind a filter. */
  readonly asked: Readonly<Record<string, Times>>;
}

export interface QueriesTask {
  readonly name: string;
  readonly index: VectorIndexInput;
  /** Where the data were written. */
  readonly folder: string;
}

/** A query may take as long as it takes. */
const PATIENCE_MILLISECONDS = 600_000;
const PERCENT = 10;

/** Fills a memory in this process and asks it. Every second record has an outcome. */
export async function measureQueries({ name, index, folder }: QueriesTask): Promise<QueryFigures> {
  const { settings, queries, ranks } = readMemoryFacts(folder);
  const { size, dimension } = settings;
  const memory = await openMemory({ dimension, indexes: { main: index }, timeoutMs: PATIENCE_MILLISECONDS });
  const started = performance.now();
  await addRows(folder, settings, ranks, (rows) =>
    memory.addBatch(
      rows.map(({ id, vector, rank }) => {
        const outcome = rank % 2 === 0 ? (rank % 5) / 4 : null;
        return { id, embedding: vector, context: id, createdAt: rank, outcome, metadata: { [RANK]: rank } };
      }),
    ),
  );
  const addSeconds = (performance.now() - started) / 1000;
  const askAll = async (ask: (embedding: Float32Array) => Promise<unknown>): Promise<Times> => {
    const times: number[] = [];
    for (let start = 0; start < queries.length; start += dimension) {
      const embedding = queries.slice(start, start + dimension);
      const before = performance.now();
      await ask(embedding);
      times.push(performance.now() - before);
    }
    return summariseTimes(times);
  };
  const filter = { op: '<', field: RANK, value: countVisible(size, PERCENT) } as const;
  const query = (embedding: Float32Array) => memory.query({ embedding, k: K });
  const queryVisible = (embedding: Float32Array) => memory.query({ embedding, k: K, filter });
  const asked: Record<string, Times> = {};
  asked.search = await askAll((embedding) => memory.search('main', embedding, K));
  asked.query = await askAll(query);
  asked['query, kept'] = await askAll(query);
  await memory.search('main', queries.slice(0, dimension), K, { filter }); // lists what the filter accepts
  asked[`query, ${PERCENT} % visible`] = await askAll(queryVisible);
  await memory.close();
  return { name, size, addSeconds, asked };
}
