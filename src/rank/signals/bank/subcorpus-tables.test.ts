import { expect, test } from 'vitest';
import { ValidationError } from '../../../core/errors/errors.ts';
import { Corpus } from '../../../model/turns/corpus.ts';
import { TURNS } from './small-threads.fixture.ts';
import { SubcorpusTables } from './subcorpus-tables.ts';

const corpus = new Corpus(TURNS);

test('what groups do not look at is not made, and refused', async () => {
  const tables = await SubcorpusTables.of(corpus, ['time']);
  expect(() => tables.forms).toThrow(
    new ValidationError('tables were made without the group: form; add it to groups', { group: 'form' }),
  );
  expect(() => tables.text).toThrow(
    new ValidationError('tables were made without the group: text; add it to groups', { group: 'text' }),
  );
  expect(tables.words).toEqual([]);
  expect(tables.authors.findNamedAuthors('bo', corpus.size).size).toBe(0);
});

test('what they look at is', async () => {
  const tables = await SubcorpusTables.of(corpus, ['form', 'text', 'author']);
  expect(tables.forms.question).toHaveLength(TURNS.length);
  expect([...tables.text.scoreDocuments('salt', corpus.size)].map(({ name }) => name)).toContain('bm25.author');
  expect(tables.words[1]).toEqual(new Set(['soup']));
  expect([...tables.authors.findNamedAuthors('bo', corpus.size)]).toEqual(['Bo']);
});
