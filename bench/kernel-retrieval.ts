import { openVectorIndex } from '../src/index/vectors/registry.ts';
import { createHttpAuthority } from '../src/kernel/client/http-authority.ts';
import { SliceEnforcingClient } from '../src/kernel/client/slice-enforcing-client.ts';
import { SliceVerifier } from '../src/kernel/client/slice-verifier.ts';
import { searchVectors } from '../src/kernel/slices/slice-search.ts';
import { drawClusteredVectors } from './clustered-vectors.ts';
import {
  buildBenchPolicy,
  drawAnchors,
  drawConversation,
  type KernelData,
  type Percentiles,
  summarisePercentiles,
} from './kernel-data.ts';

const DIMENSION = 384;
const K = 10;
const WARM_UP = 50;
const QUERIES = 1000;
const AS_OF = Date.UTC(2100, 0, 1);

/** Where a kernel is, and whom its client trusts. */
export interface ServedKernel {
  readonly baseUrl: string;
  readonly policyRef: string;
  readonly publicKey: string;
}

/** Searches of one index, without slices and with those of each kernel. */
export interface RetrievalTask {
  readonly data: KernelData;
  readonly kernels: readonly { readonly kernel: ServedKernel; readonly skew: number }[];
  readonly connections: readonly number[];
  readonly seconds: number;
}

export interface RetrievalFigures extends Percentiles {
  /** The place of the kernel in the task; null: without slices. */
  readonly kernel: number | null;
  readonly connections: number;
  readonly perSecond: number;
  /** The median of each part in milliseconds. */
  readonly parts: { readonly slice: number; readonly verify: number; readonly search: number } | null;
}

type Search = (query: number) => Promise<{ slice: number; verify: number; search: number } | null>;

/** Searches, `connections` at once, for `seconds`. */
async function measure(search: Search, connections: number, seconds: number) {
  let asked = 0;
  for (let i = 0; i < WARM_UP; i++) await search(asked++);
  const times: number[] = [];
  const parts: Record<'slice' | 'verify' | 'search', number[]> = { slice: [], verify: [], search: [] };
  let sliced = 0;
  const start = performance.now();
  const end = start + 1000 * seconds;
  const searchOn = async () => {
    while (performance.now() < end) {
      const before = performance.now();
      const spent = await search(asked++);
      times.push(performance.now() - before);
      if (spent === null) continue;
      sliced++;
      for (const part of ['slice', 'verify', 'search'] as const) parts[part].push(spent[part]);
    }
  };
  await Promise.all(Array.from({ length: connections }, searchOn));
  const takeMedian = (part: keyof typeof parts) => summarisePercentiles(parts[part]).p50;
  return {
    perSecond: (1000 * times.length) / (performance.now() - start),
    ...summarisePercentiles(times),
    parts:
      sliced === 0 ? null : { slice: takeMedian('slice'), verify: takeMedian('verify'), search: takeMedian('search') },
  };
}

export async function measureRetrieval(task: RetrievalTask): Promise<RetrievalFigures[]> {
  const { data, kernels, connections, seconds } = task;
  const corpus = drawConversation(data);
  const vectors = drawClusteredVectors(corpus.size, DIMENSION, data.seed, 'turns');
  const queries = drawClusteredVectors(QUERIES, DIMENSION, data.seed, 'queries');
  const readQuery = (query: number) =>
    queries.subarray((query % QUERIES) * DIMENSION, ((query % QUERIES) + 1) * DIMENSION);
  const index = await openVectorIndex({ index: 'hnsw' }, DIMENSION);
  await index.upsert(
    corpus.turns.map(({ id }, row) => ({ id, vector: vectors.subarray(row * DIMENSION, (row + 1) * DIMENSION) })),
  );
  await index.build();
  const figures: RetrievalFigures[] = [];
  for (const count of connections) {
    const alone: Search = async (query) => {
      await index.search(readQuery(query), K);
      return null;
    };
    figures.push({ kernel: null, connections: count, ...(await measure(alone, count, seconds)) });
    for (const [place, { kernel, skew }] of kernels.entries()) {
      const anchors = drawAnchors(corpus.size, 100_000, data.seed, skew);
      const { baseUrl, publicKey } = kernel;
      const authority = createHttpAuthority({ baseUrl, timeoutSeconds: 60, maxConnections: count });
      const client = new SliceEnforcingClient({
        ...{ authority, search: searchVectors(index), policy: buildBenchPolicy(data.maxNodes) },
        verifier: new SliceVerifier({ publicKeys: [publicKey], corpus }),
      });
      const enforced: Search = async (query) => {
        const scope = { anchorTurnId: anchors[query % anchors.length]! };
        const request = { queryId: `q${query}`, text: '', vector: readQuery(query), k: K, scope, asOf: AS_OF };
        return (await client.search(request)).latencyMs;
      };
      figures.push({ kernel: place, connections: count, ...(await measure(enforced, count, seconds)) });
      authority.close();
    }
  }
  await index.dispose();
  return figures;
}
