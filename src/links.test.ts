import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const docs = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.md'))
  .map((file) => join('docs', file));
const studies = readdirSync(join(root, 'experiments'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('README.md'))
  .map((file) => join('experiments', file));
const pages = ['README.md', 'ARCHITECTURE.md', 'CHANGELOG.md', 'CONTRIBUTING.md', ...docs, ...studies];

/** The text of a page without its blocks of code. */
function readProse(page: string): string {
  return readFileSync(join(root, page), 'utf8').replace(/^```[\s\S]*?^```$/gm, '');
}

/** The anchors of a page's headings, as GitHub makes them. */
function listAnchors(page: string): string[] {
  return [...readProse(page).matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
    (heading as string)
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

/** Links to files of the project: the page, and what it points at. */
const links = pages.flatMap((page) =>
  [...readProse(page).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target]) => target as string)
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => {
      const [path = '', anchor] = target.split('#');
      return { page, target, anchor, file: path === '' ? page : relative(root, join(root, dirname(page), path)) };
    }),
);

test('every link within the project leads to a file', () => {
  const broken = links.filter(({ file }) => !existsSync(join(root, file)));
  expect(broken.map(({ page, target }) => `${page}: ${target}`)).toEqual([]);
  expect(links.length).toBeGreaterThan(20);
});

test('every link to a heading leads to one', () => {
  const anchored = links.filter(({ anchor, file }) => anchor !== undefined && file.endsWith('.md'));
  const broken = anchored.filter(({ anchor, file }) => !listAnchors(file).includes(anchor as string));
  expect(broken.map(({ page, target }) => `${page}: ${target}`)).toEqual([]);
  expect(anchored.length).toBeGreaterThan(5);
});

test('the contents of the docs lead to every page, and README to the contents', () => {
  const contents = 'docs/README.md';
  const linked = links.filter(({ page }) => page === contents).map(({ file }) => file);
  expect(docs.filter((page) => page !== contents && !linked.includes(page))).toEqual([]);
  expect(links.filter(({ page }) => page === 'README.md').map(({ file }) => file)).toContain(contents);
});

test('every reference that code and docs cite is in references.bib', () => {
  const known = [...readFileSync(join(root, 'references.bib'), 'utf8').matchAll(/^@\w+\{(\w+),$/gm)].map(
    ([, key]) => key,
  );
  const code = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .map((file) => join('src', file));
  const cited = [...code, ...pages].flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(/\b[a-z]{3,}(?:19|20)\d\d[a-z]*\b/g)].map(([key]) => key),
  );
  expect(new Set(cited).size).toBeGreaterThan(20);
  expect([...new Set(cited)].filter((key) => !known.includes(key))).toEqual([]);
});
