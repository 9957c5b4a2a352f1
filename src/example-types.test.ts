import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { extractCode } from '../notebooks/runner/code.ts';
import { requirePackages } from './core/required-packages.harness.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const list = (folder: string, ending: string) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith(ending))
    .map((path) => join(folder, path));

/** Declarations of the names that a block takes for known, by the page and the number of the block. */
const GIVEN: Readonly<Record<string, string>> = {
  'docs/extending.md 1':
    "declare const [queries, query]: Parameters<typeof import('rag-plusplus/index').listVisibleTurns>;",
  'docs/extending.md 4': `declare const plugin: import('rag-plusplus').PluginDefinition;
declare const [turns, queries, qrels]: Parameters<typeof import('rag-plusplus').fromTurns>;`,
  'docs/feedback.md 2': 'declare const [asked, answered]: readonly [number, number];',
  'docs/library.md 1': "declare const [turns, queries, qrels]: Parameters<typeof import('rag-plusplus').fromTurns>;",
  'docs/notebooks.md 2': "declare const finished: import('rag-plusplus').FinishedExperiment;",
  'docs/sensitive.md 1': "declare const turns: readonly import('rag-plusplus/data').Turn[];",
};
/** A package of notebooks, whose own check reads its types: the project does not install it. */
const DANFO = `declare module 'danfojs-node' {
  export const DataFrame: new (data: any) => any;
  export const merge: any;
}`;

/** The same of a package whose types `.ci/databases` checks. */
const DUCKDB = requirePackages('DuckDB').isInstalled
  ? ''
  : "declare module '@duckdb/node-api' { export const DuckDBInstance: any }";

/** Relative imports of a block that names its file, as paths of the project. */
function resolveImports(code: string): string {
  const [, file] = /^\/\/ (src\/\S+\.ts)\n/.exec(code) ?? [];
  if (file === undefined) return code;
  return code.replace(/from '(\.\.?\/[^']+)'/g, (_, path) => `from '${resolve(root, dirname(file), path)}'`);
}

/** Every block of TypeScript of README and docs, by its page and its number there. */
const blocks = ['README.md', ...list('docs', '.md')].flatMap((page) =>
  [...read(page).matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code], i) => {
    const name = `${page} ${i + 1}`;
    return { name, code: `${resolveImports(code as string)}\n${GIVEN[name] ?? ''}\nexport {};\n` };
  }),
);
const programs = list('examples', '.ts');
const notebooks = list('notebooks', '.ipynb').filter((path) => !path.includes('node_modules'));

const folder = mkdtempSync(join(tmpdir(), 'ragpp-example-types-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('every example of README, docs, guides, programs and notebooks compiles with strict types', () => {
  expect([blocks.length > 40, programs.length > 12, notebooks.length > 10]).toEqual([true, true, true]);
  expect(Object.keys(GIVEN).filter((name) => !blocks.some((block) => block.name === name))).toEqual([]);
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'), 'dir');
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(folder, 'missing.d.ts'), `${DANFO}\n${DUCKDB}\n`);
  const files = [
    ...blocks,
    ...programs.map((name) => ({ name, code: read(name) })),
    ...notebooks.map((name) => ({ name, code: extractCode(JSON.parse(read(name))).code })),
  ];
  for (const { name, code } of files) {
    const path = join(folder, `${name.replace(/\.(md|ts|ipynb)/, '').replace(' ', '-')}.ts`);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, code);
  }
  const compilerOptions = {
    ...{ noUnusedLocals: false, noUnusedParameters: false }, // a block shows names that another one uses
    rewriteRelativeImportExtensions: false, // imports are absolute here
  };
  const config = { extends: join(root, 'tsconfig.json'), compilerOptions, include: ['.'] };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  expect(spawnSync(process.execPath, [tsc, '-p', folder], { encoding: 'utf8' }).stdout).toBe('');
}, 600_000);
