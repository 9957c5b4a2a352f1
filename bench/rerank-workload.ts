import { createRandom, type Random } from '../src/core/numbers/random.ts';
import { getOrCompute } from '../src/core/values/once.ts';
import type { Query } from '../src/model/dataset.ts';
import { Corpus } from '../src/model/turns/corpus.ts';
import type { Turn } from '../src/model/turns/turn.ts';
import { countComponents } from '../src/ops/trajectory/complexity.ts';
import { Workspace } from '../src/rank/signals/workspace.ts';
import { drawClusteredVectors } from './clustered-vectors.ts';

/** Of 1, 3 and 4 semantic components. */
const TEXTS = ['Yes.', 'We met on Monday. They left.', 'See the report of Tuesday, which Anna wrote.'] as const;
/** Conversations that go on at any time, and the chance that one ends with a turn: 32 turns each, on average. */
const [OPEN, ENDING] = [40, 1 / 32];
const MINUTE_MILLISECONDS = 60_000;

/** Conversations of all lengths, and queries that come late among their turns. */
export interface RerankWorld {
  /** In time order. */
  readonly corpus: Corpus;
  readonly queries: readonly Query[];
  readonly dimension: number;
  /** Row-major [N, D], of length 1. */
  readonly turnVectors: Float32Array;
  /** Row-major [B, D], of length 1. */
  readonly queryVectors: Float32Array;
}

function drawRerankTurns(size: number, source: Random): Turn[] {
  const open: Turn[][] = Array.from({ length: OPEN }, () => []);
  let begun = 0;
  const ids = open.map(() => begun++);
  return Array.from({ length: size }, (_, i) => {
    const slot = source.integer(OPEN);
    const earlier = open[slot]!;
    const parent = source.uniform() < 0.7 ? earlier.at(-1) : earlier[source.integer(Math.max(1, earlier.length))];
    const turn = {
      id: `t${String(i).padStart(7, '0')}`,
      conversationId: `c${ids[slot]}`,
      parentId: parent?.id ?? null,
      timestamp: i * MINUTE_MILLISECONDS,
      author: null,
      channel: null,
      text: TEXTS[source.integer(TEXTS.length)]!,
    };
    earlier.push(turn);
    if (source.uniform() < ENDING) {
      open[slot] = [];
      ids[slot] = begun++;
    }
    return turn;
  });
}

/** Asked among the last tenth of the turns; two in five answer one of the last hundred turns before them. */
function drawRerankQueries(count: number, turns: readonly Turn[], source: Random): Query[] {
  const cutoffs = Array.from({ length: count }, () => turns.length - source.integer(Math.ceil(turns.length / 10)));
  return cutoffs
    .sort((a, b) => a - b)
    .map((cutoff, number) => {
      const anchor = source.uniform() < 0.4 ? turns[Math.max(0, cutoff - 1 - source.integer(100))]! : null;
      return {
        id: `q${number}`,
        text: TEXTS[source.integer(TEXTS.length)]!,
        timestamp: cutoff * MINUTE_MILLISECONDS - 1,
        anchorTurnId: anchor?.id ?? null,
        author: null,
        channel: null,
        split: 'test',
        cluster: `q${number}`,
      };
    });
}

export function drawRerankWorld(size: number, queryCount: number, dimension: number, seed: number): RerankWorld {
  const source = createRandom(seed, 'rerank');
  const turns = drawRerankTurns(size, source);
  return {
    corpus: new Corpus(turns),
    queries: drawRerankQueries(queryCount, turns, source),
    dimension,
    turnVectors: drawClusteredVectors(size, dimension, seed, 'turns'),
    queryVectors: drawClusteredVectors(queryCount, dimension, seed, 'queries'),
  };
}

/** The first queries of a world as one batch. The caller disposes it. */
export function createBatchWorkspace(world: RerankWorld, batch: number): Workspace {
  const { corpus, queries, dimension, turnVectors, queryVectors } = world;
  return new Workspace({
    corpus,
    queries: queries.slice(0, batch),
    turnVectors,
    queryVectors: queryVectors.subarray(0, batch * dimension),
    dimension,
    seed: 1,
  });
}

const components = new Map<string, number>();

/** Counted once a text. */
export function countCachedComponents({ text }: { readonly text: string }): number {
  return getOrCompute(components, text, countComponents);
}
