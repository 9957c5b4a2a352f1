import { quantile } from '../src/core/numbers/distributions.ts';
import { createRandom } from '../src/core/numbers/random.ts';
import { Kernel } from '../src/kernel/authority/kernel.ts';
import { type SlicePolicy, slicePolicySchema } from '../src/kernel/policies/policy.ts';
import { generateKey } from '../src/kernel/signatures/kernel-keys.ts';
import { Corpus } from '../src/model/turns/corpus.ts';

/** How the turns of a conversation are joined: replies to one of the 8 turns before, or all to the first turn. */
export const SHAPES = ['tree', 'star'] as const;

/** A conversation, drawn by a seed, and who is asked about it. */
export interface KernelData {
  readonly shape: (typeof SHAPES)[number];
  readonly turns: number;
  readonly seed: number;
  /** The most turns of a slice. */
  readonly maxNodes: number;
  /** Slices that the kernel keeps. */
  readonly cacheEntries: number;
}

const HOUR_MILLISECONDS = 3_600_000;

const nameTurn = (turn: number) => `turn-${String(turn).padStart(7, '0')}`;

/** One conversation. Every slice is as of a moment after its last turn. */
export function drawConversation({ shape, turns, seed }: Omit<KernelData, 'maxNodes' | 'cacheEntries'>): Corpus {
  const random = createRandom(seed, 'kernel');
  const findParent = (turn: number) => (shape === 'star' ? 0 : Math.max(0, turn - 1 - random.integer(8)));
  return new Corpus(
    Array.from({ length: turns }, (_, turn) => ({
      ...{ id: nameTurn(turn), conversationId: 'c0', timestamp: turn * HOUR_MILLISECONDS },
      ...{ parentId: turn === 0 ? null : nameTurn(findParent(turn)), author: null, channel: null, text: 'x' },
    })),
  );
}

/** Bounded by the number of turns alone. */
export const buildBenchPolicy = (maxNodes: number): SlicePolicy =>
  slicePolicySchema.parse({ id: 'bench', maxNodes, minPriority: 0 });

export function openBenchKernel(data: KernelData): { readonly kernel: Kernel; readonly corpus: Corpus } {
  const corpus = drawConversation(data);
  const policies = [buildBenchPolicy(data.maxNodes)];
  const { cacheEntries } = data;
  return {
    corpus,
    kernel: new Kernel({ corpus, policies, keys: { keys: [generateKey()] }, allowAsOf: true, cacheEntries }),
  };
}

/** The ids of the turns that questions are about: turn number floor(turns u^skew) of a uniform u. So 1 asks about all turns alike, and more mostly about the first ones. */
export function drawAnchors(turns: number, count: number, seed: number, skew = 1): string[] {
  const random = createRandom(seed, 'anchors');
  return Array.from({ length: count }, () => nameTurn(Math.floor(turns * random.uniform() ** skew)));
}

/** Milliseconds. */
export interface Percentiles {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
}

export function summarisePercentiles(times: Iterable<number>): Percentiles {
  const ascending = Float64Array.from(times).sort();
  return { p50: quantile(ascending, 0.5), p95: quantile(ascending, 0.95), p99: quantile(ascending, 0.99) };
}
