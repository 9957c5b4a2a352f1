import { expect, test } from 'vitest';
import { classifyQuestion, type QuestionKind, readAskedQuery } from './query-rows.ts';
import { buildQueryAt, HOUR_MILLISECONDS, START, TURNS } from './small-threads.fixture.ts';
import { AuthorNames } from './turn-forms.ts';

test('a query is seen with what it asks for, whom and when it names, and who asks', () => {
  const query = buildQueryAt(9.5, { text: 'When did Bo, Dora and Mary meet on 1 January 2024?', author: 'Ann Lee' });
  const asked = readAskedQuery(query, 9, new AuthorNames(TURNS));
  expect(asked.kind).toBe('time');
  expect([...asked.named]).toEqual(['Bo']); // Dora has not spoken yet
  expect(asked.ranges).toEqual([{ from: START, to: START + 24 * HOUR_MILLISECONDS }]);
  expect(asked.entities).toContain('mary');
  expect(asked.askerNames).toEqual(['ann lee', 'ann']);
  expect(readAskedQuery(buildQueryAt(9.5), 9, new AuthorNames(TURNS)).askerNames).toEqual([]);
});

test.each<[string, QuestionKind]>([
  ['When did Ann go to Paris?', 'time'],
  ["When's the party?", 'time'],
  ['When and where was it?', 'time'],
  ['For how long has she been painting?', 'time'],
  ['In what year did he move?', 'time'],
  ['Which month was it?', 'time'],
  ['What is the exact date of the race?', 'time'],
  ['What’s her birthday?', 'time'],
  ['How many children does she have?', 'number'],
  ['HOW\nMUCH was it?', 'number'],
  ['How often do they meet?', 'number'],
  ['How old is her son?', 'number'],
  ['What was the amount?', 'number'],
  ['Who won?', 'person-or-place'],
  ['Whose book is it?', 'person-or-place'],
  ['From where did she come?', 'person-or-place'],
  ['Which European country did he visit?', 'person-or-place'],
  ['In what cities has Jon been?', 'person-or-place'],
  ['What did she do when he came?', 'other'],
  ['When she was in Paris, what did she eat?', 'other'],
  ['When she was in Paris, how many museums did she see?', 'number'],
  ['What kind of place is it?', 'other'],
  ['What time-consuming task did he do?', 'other'],
  ['How did the citywide show go?', 'other'],
  ['Why did Ann leave?', 'other'],
  ['Is the date fixed?', 'other'],
  ['Whenever you like.', 'other'],
  ['', 'other'],
])('%s', (text, expected) => {
  expect(classifyQuestion(text)).toBe(expected);
});
