import { expect, test } from 'vitest';
import { ValidationError } from '../../core/errors/errors.ts';
import type { PairToJudge } from '../../model/dataset.ts';
import { buildQrels, mergeJudgements } from './pool.ts';

const pair = (queryId: string, id: string): PairToJudge => ({
  ...{ queryId, id, queryText: queryId, text: id, stratum: null, generator: 'ana', sensitive: false },
});
const POOL = [pair('q1', 'b'), pair('q1', 'a'), pair('q2', 'a'), pair('q2', 'c')];
const grade = (judge: string, queryId: string, id: string, given: number) => ({ judge, queryId, id, grade: given });
const PERSON = [grade('bea', 'q1', 'a', 3), grade('bea', 'q2', 'a', 0)];
const MODEL = [grade('llm', 'q1', 'b', 1), grade('llm', 'q1', 'a', 2), grade('llm', 'q2', 'a', 0)];

test('the list named first counts, and holes and differences are reported', () => {
  const merged = mergeJudgements([PERSON, MODEL], POOL);
  expect(merged.judgements).toEqual([MODEL[0], PERSON[0], PERSON[1]]);
  expect(merged).toMatchObject({ repeated: 2, differing: 1 });
  expect(merged.holes).toEqual([pair('q2', 'c')]);
  expect(mergeJudgements([MODEL, PERSON], POOL).judgements).toEqual(MODEL);
});

test('a judgement of a pair that is not pooled is an error', () => {
  expect(() => mergeJudgements([[grade('llm', 'q2', 'b', 1)]], POOL)).toThrow(ValidationError);
  expect(() => mergeJudgements([[grade('llm', 'q2', 'b', 1)]], POOL)).toThrow(
    /^judge llm judged document b for query q2, which the pool does not hold; name the pool/,
  );
});

test('qrels hold each pair once, with the grade of the earlier list', () => {
  expect(buildQrels([MODEL]).get('q1')).toEqual(
    new Map([
      ['b', 1],
      ['a', 2],
    ]),
  );
  expect(buildQrels([PERSON, MODEL]).get('q1')?.get('a')).toBe(3);
});
