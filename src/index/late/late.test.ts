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

/** The rows of a text's tokens as the store has them, and their pieces. */
async function readRows(text: string, kind: 'turn' | 'query', context: readonly string[]) {
  const asked = { text, owner: { kind, id: text }, context };
  await tokens.prepare([asked]);
  const rows: number[][] = [];
  const ids: number[] = [];
  await tokens.read([asked], (_, stored) => {
    ids.push(...stored.ids);
    for (const [t, scale] of stored.scales.entries())
      rows.push(Array.from(stored.values.subarray(t * 8, (t + 1) * 8), (value) => value * scale));
  });
  return { rows, ids };
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
const dot = (a: readonly number[], b: readonly number[]) => sum(a.map((value, d) => value * (b[d] as number)));
const average = (rows: readonly number[][]) =>
  (rows[0] as number[]).map((_, d) => sum(rows.map((row) => row[d] as number)));

function standardise(column: readonly number[]): number[] {
  const mean = sum(column) / column.length;
  const deviation = Math.sqrt(sum(column.map((value) => (value - mean) ** 2)) / column.length);
  return column.map((value) => (deviation < 1e-5 * Math.abs(mean) ? 0 : (value - mean) / deviation));
}

/** Every score by its formula, over the turns at some positions, which `sessionOf` puts in sessions. */
async function computeByFormula(
  turns: readonly Turn[],
  visible: readonly number[],
  question: string,
  isPlain: boolean,
) {
  const say = ({ author, text }: Turn) => (author === null ? text : `${author}: ${text}`);
  const findInSession = (at: number, step: number) => {
    const own = turns.flatMap(({ channel }, i) => (channel === turns[at]?.channel ? [i] : []));
    return own[own.indexOf(at) + step];
  };
  const asked = await readRows(question, 'query', []);
  const found = await Promise.all(
    visible.map((at) => {
      const before = [-2, -1].flatMap((step) => turns[findInSession(at, step) ?? -1] ?? []);
      return readRows(say(turns[at] as Turn), 'turn', isPlain ? [] : before.map(say));
    }),
  );
  const maxima = found.map(({ rows }) => asked.rows.map((q) => Math.max(...rows.map((row) => dot(row, q)))));
  const around = (i: number, steps: readonly number[]) =>
    steps.flatMap((step) => {
      const other = visible.indexOf(findInSession(visible[i] as number, step) ?? -1);
      return other < 0 ? [] : [other];
    });
  const n = visible.length;
  const idf = asked.ids.map((id) => {
    const df = found.filter(({ ids }) => ids.includes(id)).length;
    return Math.log(1 + (n - df + 0.5) / (df + 0.5));
  });
  const weigh = (columns: readonly number[][]) =>
    visible.map((_, i) => sum(columns.map((column, t) => (idf[t] as number) * (column[i] as number))) / sum(idf));
  const columns = asked.ids.map((_, t) => maxima.map((row) => row[t] as number));
  const z = columns.map(standardise);
  const zidf = weigh(z);
  const mean = (of: (t: number, i: number) => number) =>
    visible.map((_, i) => sum(columns.map((__, t) => of(t, i))) / columns.length);
  const widened = columns.map((column) =>
    column.map((value, i) => Math.max(value, ...around(i, [-1, 1]).map((other) => column[other] as number))),
  );
  const stops = question.split(' ').map((word) => ['the', 'was'].includes(word));
  return {
    zidf,
    maxsim: mean((t, i) => columns[t]?.[i] as number),
    standardised: mean((t, i) => z[t]?.[i] as number),
    focused: mean((t, i) => Math.max(0, z[t]?.[i] as number) ** 2),
    minimum: maxima.map((row) => Math.min(...row.filter((_, t) => !stops[t]))),
    rank: weigh(
      columns.map((column) =>
        column.map((value) => 1 - Math.log(1 + column.filter((other) => other > value).length) / Math.log(n)),
      ),
    ),
    share: zidf.map((value) => Math.exp(4 * (value - Math.max(...zidf)))),
    near: zidf.map((value, i) => Math.max(value, ...around(i, [-2, -1, 1, 2]).map((other) => zidf[other] as number))),
    window: weigh(widened.map(standardise)),
    cosine: found.map(({ rows }) => {
      const [a, b] = [average(rows), average(asked.rows)];
      return dot(a, b) / Math.hypot(...a) / Math.hypot(...b);
    }),
  } satisfies Record<LateScore, number[]>;
}

test.each(['plain', 'context'] as const)(
  'every score is its formula over the turns that a list shows: %s',
  async (view) => {
    const question = 'was the word3 word5';
    const turns = buildTurns(sample.texts.slice(0, 24)).map((turn, i) => ({
      ...turn,
      author: i % 3 === 0 ? null : 'ann',
    }));
    const late = new LateTurns(new Corpus(turns), tokens, { view, author: true });
    const list = [0, 1, 2, 4, 5, 6, 9, 11, 12, 15, 16, 19, 22];
    for (const [visible, cutoff] of [
      [list, 17],
      [[...turns.keys()], 13],
    ] as const) {
      const seen = visible.filter((position) => position < cutoff);
      const expected = await computeByFormula(turns, seen, question, view === 'plain');
      const batch = { texts: [question], cutoffs: Int32Array.of(cutoff), visible: [Int32Array.from(visible)] };
      await late.score(batch, (_, scores) => {
        expect([...scores.visible]).toEqual(seen);
        for (const name of LATE_SCORE_NAMES)
          for (const [i, value] of scores.get(name).entries())
            expect(value, `${name} of ${seen[i]}`).toBeCloseTo(expected[name][i] as number, 4);
      });
    }
  },
);

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

test('questions whose maxima do not fit into memory together have the scores that each has alone', async () => {
  const [turnCount, words] = [1501, 3000]; // 4.5 million maxima a question, of which 16.7 million fit
  const turns = buildTurns(Array.from({ length: turnCount }, (_, i) => `word${i % 89} word${(i * 7) % 97}`));
  const late = new LateTurns(new Corpus(turns), tokens, { view: 'plain', author: true });
  const texts = [3, 5, 11, 13].map((step) =>
    Array.from({ length: words }, (_, i) => `word${(i * step) % 101}`).join(' '),
  );
  const odd = Int32Array.from({ length: 700 }, (_, i) => 2 * i + 1);
  const asked = { texts, cutoffs: Int32Array.of(1501, 900, 1400, 1501), visible: [null, null, odd, null] };
  const found = new Map<number, readonly [readonly number[], readonly number[]]>();
  const order: number[] = [];
  await late.score(
    asked,
    (query, scores) => {
      order.push(query);
      found.set(query, [[...scores.visible], [...scores.get('zidf'), ...scores.get('cosine')]]);
    },
    undefined,
    ['zidf', 'cosine'],
  );
  expect(order).toEqual([1, 2, 0, 3]);
  for (const query of texts.keys()) {
    const alone = {
      texts: [texts[query] as string],
      cutoffs: asked.cutoffs.slice(query, query + 1),
      visible: [asked.visible[query] ?? null],
    };
    await late.score(
      alone,
      (_, scores) => {
        expect(found.get(query)?.[0]).toEqual([...scores.visible]);
        for (const [i, value] of [...scores.get('zidf'), ...scores.get('cosine')].entries())
          expect(Math.abs((found.get(query)?.[1][i] as number) - value), `${query}, ${i}`).toBeLessThan(1e-5);
      },
      undefined,
      ['zidf', 'cosine'],
    );
  }
}, 60_000);

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
