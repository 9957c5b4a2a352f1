import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const page = new URL('../docs/glossary.md', import.meta.url);
const [, , ...rows] = readFileSync(page, 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('|'))
  .map((line) =>
    line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim()),
  );
const terms = rows.map(([term = '']) => term);

test('the glossary defines at most 40 terms, each once', () => {
  expect(terms.length).toBeGreaterThan(20);
  expect(terms.length).toBeLessThanOrEqual(40);
  expect(new Set(terms).size).toBe(terms.length);
});

test('its terms are in alphabetical order', () => {
  expect(terms).toEqual([...terms].sort());
});

test.each(rows)(
  '%s is defined in one or two sentences, and what is linked exists',
  (_, meaning = '', __, found = '') => {
    expect(meaning.match(/[.](?=\s|$)/g)?.length).toBeOneOf([1, 2]);
    const files = [...found.matchAll(/\]\(([^)]+)\)/g)].map(([, file]) => file as string);
    expect(files.length).toBeGreaterThan(0);
    expect(files.filter((file) => !existsSync(new URL(file, page)))).toEqual([]);
  },
);
