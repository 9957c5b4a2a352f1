import type { Random } from '../../core/numbers/random.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import type { Turn } from '../../model/turns/turn.ts';

export const FOREST_SIZE = 89;
export const FOREST_DIMENSION = 13;
const CONVERSATIONS = 5;

export function buildForestTurn(id: string, conversationId: string, parentId: string | null, timestamp: number): Turn {
  return { id, conversationId, parentId, timestamp, author: null, channel: null, text: id };
}

/** Forests that branch, with several roots and with equal timestamps; ids in no order, so that of two turns of one moment the child may stand first. */
function buildForestCorpus(source: Random): Corpus {
  const turns: Turn[] = [];
  for (let i = 0; i < FOREST_SIZE; i++) {
    const conversationId = `c${source.integer(CONVERSATIONS)}`;
    const earlier = turns.filter((turn) => turn.conversationId === conversationId);
    const parent = source.uniform() < 0.1 ? undefined : earlier[source.integer(Math.max(earlier.length, 1))];
    turns.push(
      buildForestTurn(`t${(i * 37) % FOREST_SIZE}`, conversationId, parent?.id ?? null, Math.floor(i / 2) * 1000),
    );
  }
  return new Corpus(turns);
}

/** With a vector, one of them zero, and a number of components for each turn. */
export function drawSampleForest(source: Random) {
  const corpus = buildForestCorpus(source);
  const vectors = Float32Array.from({ length: FOREST_SIZE * FOREST_DIMENSION }, () => source.drawNormal());
  vectors.fill(0, 3 * FOREST_DIMENSION, 4 * FOREST_DIMENSION);
  const components = Int32Array.from({ length: FOREST_SIZE }, () => 1 + source.integer(11));
  return { corpus, vectors, components };
}
