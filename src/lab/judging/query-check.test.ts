import { expect, test } from 'vitest';
import { findQueryFaults } from './query-check.ts';
import type { AuthoredQuery } from './query-file.ts';

const DOCUMENTS = new Map([
  ['t1', { text: 'The kernel crashed after the update.', sensitive: false }],
  ['t2', { text: 'Red lentils boil for a quarter of an hour.', sensitive: false }],
  ['t3', { text: 'My salary is confidential.', sensitive: true }],
]);

function find(query: Partial<AuthoredQuery>): string[] {
  const whole = { id: 'q', text: 'x', stratum: 'exact', generator: 'ana', sources: [], sensitive: false, ...query };
  return findQueryFaults([whole], DOCUMENTS).map(({ message }) => message);
}

test('a paraphrase shares no content word with its source, whatever its inflection', () => {
  const paraphrase = { stratum: 'paraphrase', sources: ['t1'] };
  expect(find({ ...paraphrase, text: 'Why did the machine stop working?' })).toEqual([]);
  expect(find({ ...paraphrase, text: 'After the what, the machine stopped' })).toEqual([]); // stop words alone
  expect(find({ ...paraphrase, text: 'Which updates crash kernels?' })).toEqual([
    'paraphrase shares content words updat, crash, kernel with its source t1; use other words',
  ]);
  expect(find({ ...paraphrase, sources: ['t1', 't2'], text: 'How long do pulses boil?' })).toEqual([
    expect.stringContaining('content words boil with its source t2'),
  ]);
  expect(find({ ...paraphrase, sources: [] })).toEqual([expect.stringContaining('paraphrase has no sources')]);
});

test('words of a sensitive text are counted and not shown', () => {
  const [message] = find({ stratum: 'paraphrase', sources: ['t3'], text: 'the salary' });
  expect(message).toBe('paraphrase shares 1 content words with its source t3; use other words');
});

test('an exact query repeats a word of a source; a multi-hop query needs two sources', () => {
  expect(find({ text: 'kernel update', sources: ['t1'] })).toEqual([]);
  expect(find({ text: 'lentils', sources: ['t1'] })).toEqual([expect.stringContaining('shares no content word')]);
  expect(find({ stratum: 'multi-hop', sources: ['t1', 't2'] })).toEqual([]);
  expect(find({ stratum: 'multi-hop', sources: ['t1'] })).toEqual([
    'multi-hop query has 1 sources; add at least 2, or use another kind',
  ]);
});

test('every query states a generator, a stratum and sources that are there', () => {
  expect(find({ generator: null })).toEqual([expect.stringContaining('query states no generator')]);
  expect(find({ stratum: 'hard' })).toEqual([
    'kind is not one of exact, paraphrase, multi-hop: hard; correct the kind',
  ]);
  expect(find({ stratum: null })).toEqual([expect.stringContaining(': nothing; correct the kind')]);
  expect(find({ sources: ['t9'] })).toEqual(['source is not among the documents: t9; correct its id']);
});
