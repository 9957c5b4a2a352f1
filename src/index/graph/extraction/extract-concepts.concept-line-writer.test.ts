import { expect, test } from 'vitest';
import { CanonicalEntities, CanonicalRelations } from './extract-concepts.ts';

test('a form becomes the earliest canonical spelling, never one that is no spelling of it, and keeps what it became', () => {
  const entities = new CanonicalEntities();
  const take = (form: string) => entities.take(form);
  expect(['ann b. davis', 'ann c. davis', 'ann davis', 'rome'].map(take)).toEqual([
    ...['ann b. davis', 'ann c. davis', 'ann b. davis', 'rome'],
  ]);
  // A spelling of `ann davis`, which is not canonical, and of no canonical form.
  expect(take('ann e. davis')).toBe('ann e. davis');
  expect(['ann davis', 'ann c. davis', 'ann e. davis'].map(take)).toEqual([
    'ann b. davis',
    'ann c. davis',
    'ann e. davis',
  ]);
});

test('relations are listed by their triples so far, the earliest first among equals, and merged ones are not listed', () => {
  const relations = new CanonicalRelations();
  const bring = (relation: string, same: string | null, sensitive = false) =>
    relations.bring({ relation, definition: `of ${relation}`, same }, sensitive);
  bring('works for', null);
  bring('is in', null, true);
  bring('knows', null);
  bring('is employed by', 'works for');
  for (const relation of ['knows', 'knows', 'is in']) relations.count(relation);
  expect(relations.find('is employed by')).toBe('works for');
  expect(relations.find('visits')).toBeUndefined();
  expect(relations.listFrequent(2)).toMatchObject([
    { relation: 'knows', definition: 'of knows', sensitive: false },
    { relation: 'is in', sensitive: true },
  ]);
  bring('visits', null);
  expect(relations.listFrequent(9).map(({ relation }) => relation)).toEqual(['knows', 'is in', 'works for', 'visits']);
});
