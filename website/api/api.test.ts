import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { type ApiModule, readApi } from './declarations.ts';
import { MOST_NAMES, writeApiLists } from './lists.ts';
import { writeApiPages } from './pages.ts';

// The compiler is started with child_process, so this file runs among the tests that start processes.
const root = join(import.meta.dirname, '../..');
let modules: ApiModule[];

beforeAll(() => {
  modules = readApi(root);
});

test('the lists are those of the code: `npm run docs -- --api` writes them', () => {
  const lists = writeApiLists(modules);
  const stored = lists.map(({ file }) => ({ file, text: readFileSync(join(root, file), 'utf8') }));
  expect(stored).toEqual(lists);
  expect(lists.map(({ file }) => file)).toContain('src/core/api.txt');
});

test('the package exports few names', () => {
  expect(modules.reduce((sum, { exports }) => sum + exports.length, 0)).toBeLessThanOrEqual(MOST_NAMES);
});

test('every module and every export is documented', () => {
  // A name of another package, such as tf, is documented there: its file is null.
  const bare = modules.flatMap(({ specifier, summary, exports }) => [
    ...(summary === '' ? [specifier] : []),
    ...exports
      .filter((one) => one.file !== null && one.summary === '' && one.tags.length === 0)
      .map(({ name }) => `${specifier}: ${name}`),
  ]);
  expect(bare).toEqual([]);
});

test('a link in a docstring is a name alone, also where a line ends inside the link', () => {
  const texts = modules.flatMap(({ exports }) =>
    exports.flatMap(({ summary, tags }) => [summary, ...tags.map(({ text }) => text)]),
  );
  const links = texts.flatMap((text) => text.match(/\{@link[^}]*\}/g) ?? []);
  expect(links.length).toBeGreaterThan(10);
  expect(links.filter((link) => !/^\{@link\s+[\w.]+\}$/.test(link))).toEqual([]);
});

test('a declaration has no body, no comment and no private member', () => {
  const core = modules.find(({ specifier }) => specifier === 'rag-plusplus/core');
  const error = core?.exports.find(({ name }) => name === 'ShardError');
  expect(error).toMatchObject({ kind: 'class', file: 'src/core/errors/errors.ts' });
  expect(error?.declaration).toMatch(/^export class ShardError extends DistributedError \{\n/);
  const all = modules.flatMap(({ exports }) => exports.map(({ declaration }) => declaration)).join('\n');
  expect(all).not.toMatch(/^\s*(?:\/\*\*|private |#|return )/m);
});

test('a page for each module has a heading for each of its names', () => {
  const pages = writeApiPages(modules);
  expect(pages).toHaveLength(modules.length + 1);
  const page = pages.find(({ file }) => file === 'reference/api/rag-plusplus-ops.md')?.markdown;
  const names = modules.find(({ specifier }) => specifier === 'rag-plusplus/ops')?.exports ?? [];
  for (const { name } of names) expect(page).toContain(`\n### ${name}\n`);
});
