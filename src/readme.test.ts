import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transformSync } from 'esbuild';
import { afterAll, expect, inject, test } from 'vitest';
import { parse } from 'yaml';
import { requirePackages } from './core/required-packages.harness.ts';
import { DOORS } from './entry-points.harness.ts';
import { loadConfig } from './lab/config/config.ts';
import { parseTables } from './lab/config/config-reference.harness.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const readme = read('README.md');
const folder = mkdtempSync(join(tmpdir(), 'ragpp-readme-'));
symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'), 'dir');
afterAll(() => rmSync(folder, { recursive: true }));

/** A marked block of code, and the block of text after it: what it prints. */
const MARKED = /<!-- example -->\n```ts\n([\s\S]*?)```\n\n```text\n([\s\S]*?)```/g;

/** As somebody would run it who has installed the package. */
function runSnippet(code: string): string {
  const built = (door: string) =>
    join(inject('builtPackage'), 'dist', (DOORS.get(door) as string).replace(/ts$/, 'js'));
  const runnable = code.replace(/'(rag-plusplus(?:\/[a-z]+)?)'/g, (_, door: string) => JSON.stringify(built(door)));
  const file = join(folder, 'snippet.mjs');
  writeFileSync(file, transformSync(runnable, { loader: 'ts' }).code);
  return execFileSync(process.execPath, [file], { cwd: root, encoding: 'utf8' });
}

const pages = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
  .filter((page) => page.endsWith('.md'))
  .map((page) => `docs/${page}`);
const withExamples = ['README.md', ...pages].filter((page) => read(page).includes('<!-- example -->')).sort();

test('there are examples in README and the pages of docs', () => {
  expect(withExamples).toContain('README.md');
  expect(withExamples.length).toBeGreaterThan(13);
});

const duckDb = requirePackages('DuckDB');

for (const page of withExamples) {
  const testPage = read(page).includes("'@duckdb/node-api'") ? duckDb.test : test;
  testPage(`every example of ${page} prints what the page says`, () => {
    const text = read(page);
    const examples = [...text.matchAll(MARKED)];
    expect(examples.length).toBe(text.split('<!-- example -->').length - 1);
    for (const [, code, output] of examples) expect(runSnippet(code as string)).toBe(output);
  });
}

test('README has at most 800 words, and a picture of at most 300 kB', () => {
  expect(readme.trim().split(/\s+/).length).toBeLessThanOrEqual(800);
  const [, picture] = /!\[[^\]]+\]\((\S+\.png)\)/.exec(readme) ?? [];
  expect(statSync(join(root, picture as string)).size).toBeLessThan(300_000);
});

test('the table of README has rows of the published one', () => {
  const [published = []] = parseTables(read('results/r-help/table.md'));
  const [header = [], , ...rows] = parseTables(readme).find(([first]) => first?.[0] === 'arm') ?? [];
  const places = header.map((column) => published[0]?.indexOf(column) as number);
  expect(rows).toHaveLength(5);
  for (const row of rows) {
    const whole = published.find(([arm]) => arm === row[0]);
    expect(row).toEqual(places.map((place) => whole?.[place]));
  }
});

test('every figure of the findings is a published one', () => {
  const tables = readdirSync(join(root, 'results'), { recursive: true, encoding: 'utf8' })
    .filter((path) => /^(?!runs)[^/]+[/\\](table|test)\.md$/.test(path))
    .map((path) => read(join('results', path)));
  const [, findings = ''] = /^## What it finds$([\s\S]*?)^## /m.exec(readme) ?? [];
  const figures = [...findings.matchAll(/(?<!\d)\.\d{3}\b/g)].map(([figure]) => figure);
  expect(figures.filter((figure) => !tables.some((table) => table.includes(figure)))).toEqual([]);
  expect(figures.length).toBeGreaterThan(20);
});

test('every config that a command of README names is valid', () => {
  const configs = [...readme.matchAll(/ run (configs\/\S+\.yaml)(?: --set '([^']*)')?/g)];
  expect(configs.length).toBeGreaterThan(0);
  for (const [, path, value] of configs)
    expect(() => loadConfig(join(root, path as string), value === undefined ? [] : [value])).not.toThrow();
});

test('the citation is of this version', () => {
  const citation = parse(read('CITATION.cff'));
  const { version, license } = JSON.parse(read('package.json'));
  expect(citation).toMatchObject({ 'cff-version': '1.2.0', type: 'software', version, license });
  expect(citation.authors).toEqual([{ name: 'The rag-plusplus authors' }]);
});
