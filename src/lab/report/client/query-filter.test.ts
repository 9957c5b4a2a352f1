import { expect, test } from 'vitest';
import { buildHandmadeArm, buildHandmadePayload } from '../page/page.harness.ts';
import * as app from './app.ts';
import { findBestRank, listArmsWithoutRankings, listLevels, passesFilters } from './query-filter.ts';

/** Turns of each query's ranking, without components: turn and score in turn. */
const rankTurns = (...rankings: number[][]) => rankings.map((turns) => turns.flatMap((turn) => [turn, 1]));
const sample = buildHandmadePayload([], {});
const [first, second, third] = sample.queries as [(typeof sample.queries)[0], ...(typeof sample.queries)[0][]];

/** Turn 1 answers every query, and turn 2 the first too; turn 3 has a grade below the relevant ones. */
const state = app.createApp(
  buildHandmadePayload(
    [
      buildHandmadeArm('base', {
        rankings: rankTurns([3, 1], [1], [3]),
        lost: [
          [1, 0, 2, 1],
          [1, 0],
          [1, 1],
        ],
      }),
      buildHandmadeArm('other', {
        rankings: rankTurns([2, 1], [3, 1], [0]),
        lost: [
          [1, 0, 2, 0],
          [1, 0],
          [1, 2],
        ],
      }),
    ],
    {
      relevantGrade: 2,
      fates: ['kept', 'candidates', 'rerank'],
      strata: [
        {
          name: 'kind',
          levels: [
            { name: 'question', queries: 1 },
            { name: 'statement', queries: 1 },
          ],
          of: [1, 0, -1],
        },
      ],
      queries: [
        { ...first, judged: [1, 2, 2, 3, 3, 1] },
        { ...(second as typeof first), judged: [1, 2, 3, 1] },
        { ...(third as typeof first), judged: [1, 2] },
      ],
    },
  ),
);

const listPassing = (change: Partial<app.Choice>) => {
  app.choose(state, { stratum: '', moved: '', lost: '', right: 1, ...change });
  return [0, 1, 2].filter((query) => passesFilters(state, query));
};

test('the best relevant turn counts; a query without one in the ranking has no rank', () => {
  expect([0, 1, 2].map((query) => findBestRank(state, 0, query))).toEqual([2, 1, Number.POSITIVE_INFINITY]);
  expect([0, 1, 2].map((query) => findBestRank(state, 1, query))).toEqual([1, 2, Number.POSITIVE_INFINITY]);
});

test.each([
  [{}, [0, 1, 2]],
  [{ moved: 'changed' }, [0, 1]],
  [{ moved: 'up' }, [0]],
  [{ moved: 'down' }, [1]],
  [{ moved: 'changed', right: 0 }, []],
  [{ stratum: 'kind: question' }, [1]],
  [{ stratum: 'kind: statement', moved: 'down' }, []],
  [{ lost: 'rerank' }, [2]],
  [{ lost: 'kept' }, [0, 1]],
  [{ lost: 'candidates' }, []],
  [{ lost: 'candidates', right: 0 }, [0, 2]],
] as const)('%j keeps the queries %j', (change, kept) => expect(listPassing(change)).toEqual(kept));

test('a query without a level is in none', () => {
  expect([0, 1, 2].map((query) => listLevels(state, query))).toEqual([['kind: statement'], ['kind: question'], []]);
});

test('no rank is better or worse than that of an arm whose rankings the page does not hold', () => {
  const { data } = state;
  const lacking = app.createApp({ ...data, arms: [...data.arms, buildHandmadeArm('far', { rankings: null })] });
  for (const filter of [{ moved: 'down' }, { moved: 'up' }, { moved: 'changed' }, { lost: 'kept' }] as const) {
    app.choose(lacking, { moved: '', lost: '', right: 2, ...filter });
    expect([0, 1, 2].filter((query) => passesFilters(lacking, query))).toEqual([]);
    expect(listArmsWithoutRankings(lacking)).toEqual(['far']);
  }
  app.choose(lacking, { moved: '', lost: '' });
  expect(listArmsWithoutRankings(lacking)).toEqual([]);
});
