import { expect, test } from 'vitest';
import { findConcepts } from './concepts.ts';
import { findEntities, splitIntoSentences } from './entities.ts';

const countWords = (text: string) => splitIntoSentences(text).flat().length;

test.each(['!', '#', '*', '/', '"', '\u{1f600}', '#$%^&*()'])(
  'of a run of %s the language model reads the beginning',
  (mark) => {
    const [short, long] = [500, 100_000].map((length) => countWords(`Mary ${mark.repeat(length)} met Paul`));
    expect(long).toBe(short);
    expect(long).toBeLessThan(150);
  },
);

test('what stands around a long run of marks is found', () => {
  const text = `We met Mary Smith in 1998 ${'=-'.repeat(50_000)} before Paul Jones left.`;
  expect([...findEntities(text)]).toEqual(['1998', 'mary smith', 'paul jones']);
  expect(findConcepts(text).map(({ form }) => form)).toEqual(expect.arrayContaining(['mary smith', 'paul jones']));
});

test('a line of marks as texts have it is read as it is', () => {
  const line = '-'.repeat(100);
  expect(
    splitIntoSentences(`Hello\n${line}\nYou`)
      .flat()
      .map(({ text }) => text)
      .join(''),
  ).toContain(line);
});
