import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatSuperseded, parseSuperseded } from './trec-files.ts';

test('a line is a query, a superseded document and the one that replaces it', () => {
  const superseded = new Map([
    [
      'q1',
      new Map([
        ['a', 'c'],
        ['b', 'c'],
      ]),
    ],
    ['q2', new Map()],
  ]); // prettier-ignore
  const text = 'q1\ta\tc\nq1\tb\tc\n';
  expect(formatSuperseded(superseded)).toBe(text);
  expect([...parseSuperseded('q1 a  c\n\nq1\tb\tc', 'x')]).toEqual([['q1', superseded.get('q1')]]);
});

test('what is written is read back', () => {
  const id = fc.stringMatching(/^\S{1,4}$/).filter((text) => !/\s/.test(text));
  const documents = fc
    .dictionary(id, id, { minKeys: 1, noNullPrototype: true })
    .map((rows) => new Map(Object.entries(rows).filter(([stale, current]) => stale !== current)));
  const superseded = fc
    .array(fc.tuple(id, documents), { maxLength: 5 })
    .map((rows) => new Map(rows.filter(([, held]) => held.size > 0)));
  fc.assert(
    fc.property(superseded, (written) => {
      expect(parseSuperseded(formatSuperseded(written), 'x')).toEqual(written);
    }),
    { numRuns: 200, seed: 1 },
  );
});

test.each([
  ['q a', 'expected 3 columns at x:1, got 2: q a; correct the line'],
  ['q a b\nq a c', 'query q repeats a document at x:2: a; remove the line'],
  ['q a a', 'document replaces itself at x:1: a; name the one that states what holds'],
])('refuses %j', (text, message) => {
  expect(() => parseSuperseded(text, 'x')).toThrow(expect.objectContaining({ name: 'ValidationError', message }));
});

test('refuses to write an id of two words', () => {
  expect(() => formatSuperseded(new Map([['q', new Map([['a b', 'c']])]]))).toThrow(
    'document id is empty or has white space: "a b"; use one word',
  );
});
