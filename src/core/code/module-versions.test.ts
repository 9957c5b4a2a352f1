import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { StorageError } from '../errors/errors.ts';
import { ModuleVersions } from './module-versions.ts';

const MODULES = {
  'stage.ts': `
    import { score } from './core/score.ts';
    import type { Options } from './options.ts';
    export const stage = async (options: Options) => [score(options), (await import('./lazy.ts')).load];
  `,
  'core/score.ts': `
    import * as tf from '@scope/numbers';
    export { mean } from './mean.ts';
    export const score = (value: number) => tf.exp(value) / 2;
  `,
  'core/mean.ts': 'export const mean = (a: number, b: number) => (a + b) / 2;',
  'lazy.ts': "export const load = () => require('plain/inner');",
  'options.ts': 'export type Options = number;',
  'report.ts': "import { stage } from './stage.ts';\nexport const report = stage;",
};

let folder = '';
const at = (path: string) => join(folder, path);

function write(path: string, text: string): void {
  mkdirSync(dirname(at(path)), { recursive: true });
  writeFileSync(at(path), text);
}

const PACKAGES = new Map([
  ['@scope/numbers', '1.0.0'],
  ['plain', null],
  ['other', '3.0.0'],
]);

const version = (entries: readonly string[] = ['stage.ts'], packages: ReadonlyMap<string, string | null> = PACKAGES) =>
  new ModuleVersions(packages).versionOf(entries.map(at));

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ragpp-modules-'));
  for (const [path, text] of Object.entries(MODULES)) write(path, text);
});
afterEach(() => rmSync(folder, { recursive: true }));

const rewrite = (path: keyof typeof MODULES, change: (text: string) => string) => write(path, change(MODULES[path]));

describe('the version of a module stays', () => {
  test.each<[string, () => void]>([
    ['with a comment', () => rewrite('core/mean.ts', (text) => `// The mean.\n${text} /* of two */`)],
    ['with other line breaks', () => rewrite('core/mean.ts', (text) => text.replaceAll(' ', '\n  '))],
    ['with a change of what it does not reach', () => write('report.ts', 'export const report = 1;')],
    ['with a new file', () => write('core/new.ts', 'export const a = 1;')],
    ['with a change of a module that it takes types from', () => write('options.ts', 'export type Options = 1;')],
    [
      'with other imports of types',
      () =>
        rewrite('stage.ts', (text) =>
          text.replace('{ Options }', "{ A } from './core/a.ts';\nimport type { Options }"),
        ),
    ],
    [
      'when a file is renamed',
      () => {
        renameSync(at('core/mean.ts'), at('core/average.ts'));
        rewrite('core/score.ts', (text) => text.replace('./mean.ts', './average.ts'));
      },
    ],
    [
      'when a file is moved, and its importers import in another order',
      () => {
        rmSync(at('core/score.ts'));
        write('a/b/score.ts', MODULES['core/score.ts'].replace('./mean.ts', '../../core/mean.ts'));
        rewrite('stage.ts', (text) => {
          const line = "import { score } from './core/score.ts';";
          return `${text.replace(line, '')}\n${line.replace('./core', './a/b')}`;
        });
      },
    ],
  ])('%s', (_, change) => {
    const before = version();
    change();
    expect(version()).toBe(before);
  });

  test('when it is renamed itself', () => {
    const before = version();
    renameSync(at('stage.ts'), at('step.ts'));
    expect(version(['step.ts'])).toBe(before);
  });

  test('wherever the folder is, and whether it is named by path or by URL', () => {
    const before = version();
    renameSync(folder, `${folder}-moved`);
    folder = `${folder}-moved`;
    expect(version()).toBe(before);
    expect(new ModuleVersions(PACKAGES).versionOf([pathToFileURL(at('stage.ts')).href])).toBe(before);
    expect(new ModuleVersions(PACKAGES).versionOf([relative('.', at('stage.ts'))])).toBe(before);
  });

  test('with another version of a package that it does not reach', () => {
    expect(version(['stage.ts'], new Map([...PACKAGES, ['other', '4.0.0']]))).toBe(version());
  });
});

describe('the version of a module is another one', () => {
  test.each<[string, () => void]>([
    ['for a token of its own', () => rewrite('stage.ts', (text) => text.replace('[score', '[-score'))],
    ['for a token of what it imports', () => rewrite('core/score.ts', (text) => text.replace('2', '3'))],
    ['for a token of what that re-exports', () => rewrite('core/mean.ts', (text) => text.replace('2', '3'))],
    ['for a token of what it imports when it runs', () => rewrite('lazy.ts', (text) => text.replace('inner', 'outer'))],
    [
      'for another import of the same name',
      () => {
        write('core/other.ts', MODULES['core/mean.ts'].replace('+', '-'));
        rewrite('core/score.ts', (text) => text.replace('./mean.ts', './other.ts'));
      },
    ],
    ['for another binding', () => rewrite('core/score.ts', (text) => text.replace('{ mean }', '{ mean as score2 }'))],
  ])('%s', (_, change) => {
    const before = version();
    change();
    expect(version()).not.toBe(before);
  });

  test.each(['@scope/numbers', 'plain'])('for another version of %s', (name) => {
    expect(version(['stage.ts'], new Map([...PACKAGES, [name, '2.0.0']]))).not.toBe(version());
  });

  test('for two that swap what they import', () => {
    const swapped = () => version(['a.ts', 'b.ts']);
    write('one.ts', 'export const x = 1;');
    write('two.ts', 'export const x = 2;');
    write('a.ts', "import { x } from './one.ts';\nexport const a = x;");
    write('b.ts', "import { x } from './two.ts';\nexport const b = x;");
    const before = swapped();
    write('a.ts', "import { x } from './two.ts';\nexport const a = x;");
    write('b.ts', "import { x } from './one.ts';\nexport const b = x;");
    expect(swapped()).not.toBe(before);
  });
});

test('the version of several modules is another one than that of each, in whichever order', () => {
  expect(version(['lazy.ts', 'report.ts'])).toBe(version(['report.ts', 'lazy.ts']));
  const all = [version(['lazy.ts']), version(['report.ts']), version(['lazy.ts', 'report.ts'])];
  expect(new Set(all).size).toBe(3);
});

test('what is reached are the modules and all that they import as values', () => {
  const found = new ModuleVersions().reachedFrom([at('stage.ts')]);
  expect([...found].map((path) => relative(folder, path)).sort()).toEqual([
    'core/mean.ts',
    'core/score.ts',
    'lazy.ts',
    'stage.ts',
  ]);
});

test('data that is imported counts as it is written', () => {
  write('stage.ts', "import data from './data.json' with { type: 'json' };\nexport const stage = data;");
  write('data.json', '{ "a": 1 }');
  const before = version();
  write('data.json', '{ "a": 2 }');
  expect(version()).not.toBe(before);
});

test('a module that is not there is an error, and no version is remembered', () => {
  write('stage.ts', "import './core/mean.ts';\nimport './gone.ts';");
  const versions = new ModuleVersions();
  for (let time = 0; time < 2; time++) expect(() => versions.versionOf([at('stage.ts')])).toThrow(StorageError);
  write('gone.ts', '');
  expect(versions.versionOf([at('stage.ts')])).toBe(new ModuleVersions().versionOf([at('stage.ts')]));
});

describe('of modules that import each other', () => {
  const ring = (names: readonly string[], last = '') => {
    for (const [i, name] of names.entries()) {
      const next = names[(i + 1) % names.length];
      write(`${name}.ts`, `import './${next}.ts';\nexport const value = ${i};${i === names.length - 1 ? last : ''}`);
    }
  };

  test('each has its own version, which does not depend on where the search begins', () => {
    ring(['a', 'b', 'c']);
    const alone = ['a.ts', 'b.ts', 'c.ts'].map((entry) => version([entry]));
    expect(new Set(alone).size).toBe(3);
    for (const order of [
      [0, 1, 2],
      [2, 1, 0],
      [1, 2, 0],
    ]) {
      const versions = new ModuleVersions(PACKAGES);
      for (const i of order) expect(versions.versionOf([at(`${'abc'[i]}.ts`)])).toBe(alone[i]);
    }
  });

  test('the names make no difference, a token of any of them does to all', () => {
    ring(['a', 'b', 'c']);
    const before = ['a', 'b', 'c'].map((name) => version([`${name}.ts`]));
    ring(['z', 'y', 'x']);
    expect(['z', 'y', 'x'].map((name) => version([`${name}.ts`]))).toEqual(before);
    ring(['a', 'b', 'c'], '\nf();');
    for (const [i, name] of ['a', 'b', 'c'].entries()) expect(version([`${name}.ts`])).not.toBe(before[i]);
  });

  test('modules of one text have the versions of what they lead to', () => {
    const link = (name: string, target: string) => write(`${name}.ts`, `export * from './${target}.ts';`);
    write('a.ts', "import './p.ts';\nimport * as q from './q.ts';");
    link('p', 'one');
    link('q', 'two');
    write('one.ts', "import './a.ts';\nexport const x = 1;");
    write('two.ts', "import './a.ts';\nexport const x = 2;");
    const before = version(['a.ts']);
    link('p', 'two');
    link('q', 'one');
    expect(version(['a.ts'])).not.toBe(before);
  });

  test('a module that imports itself has a version', () => {
    write('a.ts', "import * as self from './a.ts';\nexport const a = self;");
    expect(version(['a.ts'])).toMatch(/^[0-9a-f]{64}$/);
  });

  test('modules behind a ring are no part of it', () => {
    ring(['a', 'b']);
    write('b.ts', "import './a.ts';\nimport './core/mean.ts';");
    const before = version(['core/mean.ts']);
    write('a.ts', "import './b.ts';\nexport const value = 7;");
    expect(version(['core/mean.ts'])).toBe(before);
  });
});

test('a module is followed once, however many ways lead to it', () => {
  const layers = 40; // 2^40 ways
  for (let layer = 0; layer < layers; layer++)
    for (const side of ['l', 'r'])
      write(
        `${side}${layer}.ts`,
        `import './l${layer + 1}.ts';\nimport './r${layer + 1}.ts';\nexport const a = '${side}';`,
      );
  for (const side of ['l', 'r']) write(`${side}${layers}.ts`, "import './l0.ts';");
  expect(version(['l0.ts'])).not.toBe(version(['r0.ts']));
});
