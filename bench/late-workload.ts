import { createRandom } from '../src/core/numbers/random.ts';
import { ignoreProgress } from '../src/core/terminal/progress.ts';
import type { EncoderSource } from '../src/index/encoders/embedding-cache.ts';
import { scaleRowsToUnit } from '../src/index/encoders/encoder-definition.ts';
import { TokenStore } from '../src/index/encoders/token-cache.ts';
import type { TokenEncoder } from '../src/index/encoders/token-encoder.ts';
import type { LateView } from '../src/index/late/late-options.ts';
import type { LateScores } from '../src/index/late/late-scores.ts';
import { LateTurns } from '../src/index/late/late-turns.ts';
import type { StoredTokens, TokenVectors } from '../src/model/encoder.ts';
import { Corpus } from '../src/model/turns/corpus.ts';

/** Pieces that texts are drawn from. */
const VOCABULARY = 4000;
const SESSION_TURNS = 20;

export interface LateSizes {
  /** N. */
  readonly turns: number;
  /** Questions at once. */
  readonly questions: number;
  readonly turnTokens: number;
  readonly questionTokens: number;
  /** D. */
  readonly dimension: number;
  readonly seed: number;
}

/** Turns and questions whose token vectors are in a store. */
export interface LateWorld {
  readonly sizes: LateSizes;
  readonly store: TokenStore;
  readonly corpus: Corpus;
  readonly turns: LateTurns;
  readonly questions: { readonly texts: readonly string[]; readonly cutoffs: Int32Array };
}

/** Makes random vectors of length 1 from the text and the seed. A word `p17` is a token with id 17. */
function createRandomTokens(dimension: number, seed: number): EncoderSource {
  const encode = (text: string): TokenVectors => {
    const ids = Int32Array.from(text.split(' '), (word) => Number(word.slice(1)));
    const source = createRandom(seed, text);
    const vectors = Float32Array.from({ length: ids.length * dimension }, () => source.drawNormal());
    scaleRowsToUnit(vectors, dimension);
    return { ids, special: Array.from(ids, () => false), vectors };
  };
  const encoder: Pick<TokenEncoder, 'name' | 'dimension' | 'tokenDimension' | 'encodeTokens' | 'dispose'> = {
    ...{ name: 'random', dimension, tokenDimension: dimension },
    encodeTokens: async (texts) => texts.map(encode),
    dispose: () => {},
  };
  return { name: 'random', identity: { dimension, seed }, create: async () => encoder as TokenEncoder };
}

/**
 * Draws texts; every question may see every turn. The vectors are drawn at the first score.
 *
 * @param folder of the store; null to keep it in memory.
 */
export async function drawLateWorld(
  sizes: LateSizes,
  folder: string | null = null,
  view: LateView = 'plain',
): Promise<LateWorld> {
  const { turns, questions, turnTokens, questionTokens, dimension, seed } = sizes;
  const source = createRandom(seed, 'texts');
  const draw = (tokens: number) => Array.from({ length: tokens }, () => `p${source.integer(VOCABULARY)}`).join(' ');
  const corpus = new Corpus(
    Array.from({ length: turns }, (_, i) => ({
      ...{ id: `t${i}`, conversationId: 'c', parentId: null, timestamp: i, author: null },
      ...{ channel: `session ${Math.floor(i / SESSION_TURNS)}`, text: draw(turnTokens) },
    })),
  );
  const store = await TokenStore.open(createRandomTokens(dimension, seed), folder);
  return {
    sizes,
    store,
    corpus,
    turns: new LateTurns(corpus, store, { view, author: false }),
    questions: {
      texts: Array.from({ length: questions }, () => draw(questionTokens)),
      cutoffs: new Int32Array(questions).fill(turns),
    },
  };
}

/** `zidf` of every turn for every question, row-major [questions, N]. */
export async function scoreWorld({ turns, questions, sizes }: LateWorld): Promise<Float64Array> {
  const found = new Float64Array(sizes.questions * sizes.turns);
  const use = (query: number, scores: LateScores) => found.set(scores.get('zidf'), query * sizes.turns);
  await turns.score(questions, use, ignoreProgress, ['zidf']);
  return found;
}

/** Joins arrays of numbers, in order. */
function join<A extends Int32Array | Float32Array | Int8Array>(joined: A, parts: readonly A[]): A {
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}

/** The tokens of all turns or of all questions, in order, as the store keeps them: S ids, S scales, [S, D] values. */
export async function readStoredTokens(
  { corpus, store, questions }: LateWorld,
  kind: 'turn' | 'query',
): Promise<StoredTokens> {
  const texts = kind === 'turn' ? corpus.turns.map(({ text }) => text) : questions.texts;
  const all: StoredTokens[] = [];
  await store.read(
    texts.map((text) => ({ text, owner: { kind, id: 'bench' }, context: [] })),
    (index, tokens) => {
      all[index] = tokens;
    },
  );
  const count = all.reduce((sum, { ids }) => sum + ids.length, 0);
  return {
    ids: join(
      new Int32Array(count),
      all.map(({ ids }) => ids),
    ),
    scales: join(
      new Float32Array(count),
      all.map(({ scales }) => scales),
    ),
    values: join(
      new Int8Array(count * store.dimension),
      all.map(({ values }) => values),
    ),
  };
}
