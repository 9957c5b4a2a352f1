import { getOrCompute } from '../src/core/values/once.ts';
import type { Query } from '../src/model/dataset.ts';
import type { Turn } from '../src/model/turns/turn.ts';
import { countCachedComponents, type RerankWorld } from './rerank-workload.ts';

/** `final` is the score of the arm, from the others. */
export const SCORES = ['cosine', 'trajectory', 'attention', 'final'] as const;
export type ScoreName = (typeof SCORES)[number];

/** Of one query's candidates, in their order. */
type ExactScores = Readonly<Record<ScoreName, readonly number[]>>;

/** depth, siblingOrder, homogeneity, temporal, complexity. */
const WEIGHTS = [1.0, 0.5, 1.2, 0.8, 0.3];
const TEMPORAL = 3;
const [TRAJECTORY_WEIGHT, ATTENTION_WEIGHT] = [0.3, 0.2];
const MIX = { rcp: 0.4, ircp: 0.4, tpo: 0.2 };

/** A conversation at the time of the query, with the query as its last member. */
interface Thread {
  readonly members: readonly { readonly parentId: string | null; readonly item: Turn | Query }[];
  readonly coordinates: readonly (readonly number[])[];
  /** Of the earlier members, the query not counted. */
  readonly turns: number;
}

const computeReferenceLogit = (similarity: number, distance: number) =>
  (Math.exp(-0.5 * distance) * (1 + similarity)) / 2 / 0.1;

function softmax(logits: readonly number[]): number[] {
  const total = logits.reduce((sum, value) => sum + Math.exp(value), 0);
  return logits.map((value) => Math.exp(value) / total);
}

/**
 * The published scores by their formulas in float64, a query at a time, trees rebuilt from plain turns: shares no code with the implementation except the count of a
 * text's components.
 */
export class RerankReference {
  readonly #world: RerankWorld;
  readonly #conversations = new Map<string, Turn[]>();
  readonly #vectors = new Map<Turn | Query, Float32Array>();

  constructor(world: RerankWorld) {
    this.#world = world;
    const viewRerankRow = (vectors: Float32Array, i: number) =>
      vectors.subarray(i * world.dimension, (i + 1) * world.dimension);
    for (const [i, turn] of world.corpus.turns.entries()) {
      const conversation = this.#conversations.get(turn.conversationId);
      if (conversation === undefined) this.#conversations.set(turn.conversationId, [turn]);
      else conversation.push(turn);
      this.#vectors.set(turn, viewRerankRow(world.turnVectors, i));
    }
    for (const [i, query] of world.queries.entries()) this.#vectors.set(query, viewRerankRow(world.queryVectors, i));
  }

  #cosine(a: Turn | Query, b: Turn | Query): number {
    const [u, v] = [this.#vectors.get(a)!, this.#vectors.get(b)!];
    let [product, squareU, squareV] = [0, 0, 0];
    for (let d = 0; d < u.length; d++) {
      product += u[d]! * v[d]!;
      squareU += u[d]! ** 2;
      squareV += v[d]! ** 2;
    }
    return product / Math.sqrt(squareU * squareV);
  }

  #buildReferenceThread(query: Query, conversationId: string): Thread {
    const turns = this.#conversations.get(conversationId)!.filter(({ timestamp }) => timestamp < query.timestamp);
    const parent = turns.find(({ id }) => id === query.anchorTurnId) ?? turns.at(-1)!;
    const members = [...turns, query].map((item) => {
      return { item, parentId: 'parentId' in item ? item.parentId : parent.id };
    });
    const depths = new Map<string | null, number>([[null, -1]]);
    for (const { item, parentId } of members) depths.set(item.id, depths.get(parentId)! + 1);
    const deepest = Math.max(...depths.values());
    const most = Math.max(...members.map(({ item }) => countCachedComponents(item)));
    const start = turns[0]!.timestamp;
    const coordinates = members.map(({ item, parentId }) => {
      const siblings = members.filter((other) => other.parentId === parentId);
      const above = turns.find(({ id }) => id === parentId);
      return [
        deepest === 0 ? 0 : depths.get(item.id)! / deepest,
        siblings.findIndex((other) => other.item === item) / Math.max(siblings.length - 1, 1),
        above === undefined ? 1 : Math.min(1, Math.max(0, this.#cosine(item, above))),
        (item.timestamp - start) / (query.timestamp - start),
        most === 1 ? 0 : Math.log(countCachedComponents(item)) / Math.log(most),
      ];
    });
    return { members, coordinates, turns: turns.length };
  }

  /** @param positions of the candidates of the query, without padding */
  scoreReferencePool(query: Query, positions: ArrayLike<number>): ExactScores {
    const candidates = Array.from(positions, (position) => this.#world.corpus.turns[position]!);
    const threads = new Map<string, Thread>();
    const seen = candidates.map((turn) => {
      const thread = getOrCompute(threads, turn.conversationId, (id) => this.#buildReferenceThread(query, id));
      return { turn, thread, offset: thread.members.findIndex(({ item }) => item === turn) };
    });
    const cosine = candidates.map((turn) => this.#cosine(query, turn));
    const distances = seen.map(({ thread: { coordinates, turns }, offset }) => {
      const squares = WEIGHTS.map((weight, i) => weight * (coordinates[offset]![i]! - coordinates[turns]![i]!) ** 2);
      return Math.sqrt(turns < 5 ? squares[TEMPORAL]! : squares.reduce((a, b) => a + b));
    });
    const rcp = softmax(
      seen.map(({ thread: { turns }, offset }, i) =>
        computeReferenceLogit(cosine[i]!, Math.min(turns - offset, offset + 1)),
      ),
    );
    const ircp = seen.map(({ turn, thread: { members, turns }, offset }) => {
      const later = members.slice(offset);
      const logits = later.map(({ item }, k) =>
        computeReferenceLogit(this.#cosine(turn, item), Math.min(k, turns + 1 - k)),
      );
      return softmax(logits).at(-1)!;
    });
    const tpo = softmax(distances.map((distance, i) => computeReferenceLogit(cosine[i]!, distance)));
    const attention = candidates.map((_, i) => MIX.rcp * rcp[i]! + MIX.ircp * ircp[i]! + MIX.tpo * tpo[i]!);
    const trajectory = distances.map((distance) => Math.exp(-distance));
    return { cosine, trajectory, attention, final: blendReferenceScores(cosine, trajectory, attention) };
  }
}

function blendReferenceScores(
  cosine: readonly number[],
  trajectory: readonly number[],
  attention: readonly number[],
): number[] {
  const semantic = cosine.map((value) => (1 + value) / 2);
  const [mostSemantic, mostAttention] = [Math.max(...semantic), Math.max(...attention)];
  const placed = semantic.map(
    (value, i) => (1 - TRAJECTORY_WEIGHT) * (value / mostSemantic) + TRAJECTORY_WEIGHT * trajectory[i]!,
  );
  const mostPlaced = Math.max(...placed);
  return placed.map(
    (value, i) => (1 - ATTENTION_WEIGHT) * (value / mostPlaced) + ATTENTION_WEIGHT * (attention[i]! / mostAttention),
  );
}
