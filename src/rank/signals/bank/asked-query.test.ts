import { expect, test } from 'vitest';
import { readAskedQuery } from './asked-query.ts';
import { AuthorNames } from './author-names.ts';
import { buildQueryAt, HOUR_MILLISECONDS, START, TURNS } from './small-threads.fixture.ts';

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
