import { beforeAll, describe, expect, test } from 'vitest';
import { Corpus } from '../../../model/turns/corpus.ts';
import { groupSessions } from '../../../model/turns/sessions.ts';
import { TURNS } from './small-threads.fixture.ts';
import { TurnForms } from './turn-forms.ts';

const corpus = new Corpus(TURNS);
let forms: TurnForms;
beforeAll(async () => {
  forms = new TurnForms(groupSessions(corpus), { author: true });
  await forms.append(corpus);
});

/** Words, question, answer, number, expressions of time, and what is named. */
test.each<[string, number, number, number, number, number, string[]]>([
  ['a0', 4, 1, 0, 0, 0, []],
  ['b0', 1, 0, 0, 0, 0, []],
  ['a1', 4, 0, 1, 1, 0, ['3']],
  ['a2', 4, 1, 0, 0, 0, []],
  ['c0', 9, 0, 0, 1, 1, ['mary', 'london', '5', '2023']],
  ['a3', 4, 0, 0, 0, 0, []],
  ['a4', 3, 1, 0, 0, 0, []],
  ['c1', 3, 0, 0, 0, 0, ['mary']],
  ['a5', 4, 0, 1, 0, 0, []],
  ['a6', 4, 0, 1, 0, 0, []],
])('%s', (id, words, question, answer, number, times, entities) => {
  const at = corpus.getPosition(id);
  expect(forms.length[at]).toBeCloseTo(Math.log(1 + words), 6);
  expect([forms.question[at], forms.answer[at], forms.number[at]]).toEqual([question, answer, number]);
  expect(forms.times[at]).toBeCloseTo(Math.log(1 + times), 6);
  for (const entity of entities) expect(forms.entities[at]).toContain(entity);
  expect(forms.names[at]).toBeCloseTo(Math.log(1 + (forms.entities[at]?.size ?? 0)), 6);
  if (entities.length === 0) expect(forms.names[at]).toBe(0);
});

describe('an answer', () => {
  const own = TURNS.map((turn) => (turn.id === 'a1' ? { ...turn, author: 'Ann Lee' } : turn));
  const readAnswerForms = async (author: boolean) => {
    const world = new Corpus(own);
    const forms = new TurnForms(groupSessions(world), { author });
    await forms.append(world);
    return forms.answer[world.getPosition('a1')];
  };

  test('to oneself is none where it may be looked at who speaks', async () => {
    expect(await readAnswerForms(true)).toBe(0);
    expect(await readAnswerForms(false)).toBe(1);
  });
});
