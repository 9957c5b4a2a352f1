import { describe, expect, test } from 'vitest';
import { UnavailableError } from '../../core/errors/errors.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import type { TokenSource } from '../../model/encoder.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import type { Turn } from '../../model/turns/turn.ts';
import { describeCandidateIndex } from '../candidates/candidate-contract.harness.ts';
import { type ContractCorpus, drawContractCorpus, drawContractQueries } from '../candidates/contract-sample.fixture.ts';
import { openWordTokens } from '../encoders/word-tokens.fixture.ts';
import { LateIndex } from './late.ts';
import { LATE_SCORE_NAMES, type LateScore } from './late-options.ts';
import type { LateScores } from './late-scores.ts';
import { LateTurns } from './late-turns.ts';

await useBackend('wasm');
const tokens: TokenSource = await openWordTokens();

function buildTurns(texts: readonly string[], ids: readonly string[] = texts.map((_, i) => `t${i}`)): Turn[] {
  return texts.map((text, i) => ({
    ...{ id: ids[i] as string, conversationId: 'c', parentId: null, timestamp: i, author: null },
    channel: `session ${Math.floor(i / 5)}`,
    text,
  }));
}

function createIndex({ texts, ids }: ContractCorpus, score: LateScore, view: 'plain' | 'context' = 'plain'): LateIndex {
  return new LateIndex({ view, author: true, score }, { corpus: new Corpus(buildTurns(texts, ids)), tokens });
}

// A score that does not depend on which other turns are visible.
describeCandidateIndex('late', (corpus) => createIndex(corpus, 'maxsim'));

const [N, Q] = [61, 9];
const sample = drawContractCorpus(N);
const queries = drawContractQueries(Q, N);
const positions = Int32Array.from({ length: Q * N }, (_, i) =>
  i % N < (queries.cutoffs[Math.floor(i / N)] as number) ? i % N : -1,
);

describe.each(LATE_SCORE_NAMES)('the score %s', (score) => {
  test.each(['plain', 'context'] as const)(
    'of a pair is that of the search, and later turns do not change it: %s',
    async (view) => {
      const index = createIndex(sample, score, view);
      const found = await index.search(queries, N);
      const pairs = await index.scorePairs(queries, positions, N);
      for (const [at, position] of found.positions.entries())
        if (position >= 0) expect(pairs[Math.floor(at / N) * N + position]).toBe(found.scores[at]);
      for (const [query, cutoff] of queries.cutoffs.entries()) {
        if (cutoff < 3) continue;
        const earlier = { ...sample, texts: sample.texts.slice(0, cutoff), ids: sample.ids.slice(0, cutoff) };
        const alone = {
          texts: [queries.texts[query] as string],
          vectors: new Float32Array(0),
          cutoffs: Int32Array.of(cutoff),
        };
        const row = await createIndex(earlier, score, view).scorePairs(
          alone,
          Int32Array.from({ length: cutoff }, (_, i) => i),
          cutoff,
        );
        for (const [i, value] of row.entries()) expect(value).toBeCloseTo(pairs[query * N + i] as number, 5);
      }
    },
  );
});

/** One score of one question over some turns of one session. */
async function scoreTexts(texts: readonly string[], text: string, name: LateScore): Promise<number[]> {
  const turns = new LateTurns(new Corpus(buildTurns(texts)), tokens, { view: 'plain', author: true });
  let found: number[] = [];
  const use = (_: number, scores: LateScores) => {
    found = [...scores.get(name)];
  };
  await turns.score({ texts: [text], cutoffs: Int32Array.of(texts.length) }, use);
  return found;
}

test('cosine is an error where it was not among the names', async () => {
  const turns = new LateTurns(new Corpus(buildTurns(['bread'])), tokens, { view: 'plain', author: true });
  const use = (_: number, scores: LateScores) => void scores.get('cosine');
  const queries = { texts: ['bread'], cutoffs: Int32Array.of(1) };
  await expect(turns.score(queries, use, undefined, ['zidf'])).rejects.toThrow(
    'cosine was not announced; add it to the names of the scores',
  );
  await turns.score(queries, use, undefined, ['cosine']);
});

describe('a question about bread', () => {
  const TEXTS = ['we baked bread', 'the train was late', 'bread and soup', 'no'];

  test('has the turns with its word first, and equal maxima have equal ranks', async () => {
    const zidf = await scoreTexts(TEXTS, 'bread', 'zidf');
    expect(zidf[0]).toBeCloseTo(zidf[2] as number, 6);
    expect(zidf[0]).toBeGreaterThan(Math.max(zidf[1] as number, zidf[3] as number));
    const rank = await scoreTexts(TEXTS, 'bread', 'rank');
    expect([rank[0], rank[2]]).toEqual([1, 1]);
    expect(Math.min(...rank)).toBeCloseTo(0, 12);
  });

  test('near takes the best of the turns around, and share is 1 for the best', async () => {
    const zidf = await scoreTexts(TEXTS, 'bread', 'zidf');
    expect(await scoreTexts(TEXTS, 'bread', 'near')).toEqual(Array(4).fill(Math.max(...zidf)));
    const share = await scoreTexts(TEXTS, 'bread', 'share');
    expect(Math.max(...share)).toBe(1);
  });

  test('the smallest maximum leaves stop words out, unless there is no other word', async () => {
    const content = await scoreTexts(TEXTS, 'bread', 'minimum');
    expect(await scoreTexts(TEXTS, 'was the bread', 'minimum')).toEqual(content);
    expect((await scoreTexts(TEXTS, 'was the', 'minimum')).every(Number.isFinite)).toBe(true);
  });

  test('a turn without a word is no candidate', async () => {
    const index = createIndex({ ...sample, texts: [...TEXTS, '!'], ids: ['a', 'b', 'c', 'd', 'e'] }, 'zidf');
    const batch = { texts: ['bread', '?'], vectors: new Float32Array(0), cutoffs: Int32Array.of(5, 5) };
    const { positions: found } = await index.search(batch, 5);
    expect([...found.subarray(0, 5)].toSorted()).toEqual([-1, 0, 1, 2, 3]);
    expect([...found.subarray(5)]).toEqual(Array(5).fill(-1));
  });
});

test('without vectors of tokens there is no index', () => {
  const corpus = new Corpus(buildTurns(['a']));
  expect(() => new LateIndex({ view: 'plain', author: true, score: 'zidf' }, { corpus })).toThrow(UnavailableError);
});
