import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const source = dirname(fileURLToPath(import.meta.url));

/** What a file imports before it runs: neither types nor what is imported on first use. */
function imports(file: string): string[] {
  const text = readFileSync(join(source, file), 'utf8').replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
  const statements = [...text.matchAll(/^(?:import|export) (?!type )(?:([^;]*?) from )?'([^']+)'/gm)];
  return statements.flatMap(([, names, specifier]) => {
    const list = /^\{([^}]*)\}$/.exec(names ?? '')?.[1]?.split(',');
    const isTypes = list?.every((name) => /^\s*(type .*)?$/s.test(name)) ?? false;
    return isTypes ? [] : [specifier as string];
  });
}

/** The packages that are loaded with a file. */
function packagesOf(entry: string): string[] {
  const seen = new Set<string>();
  const packages = new Set<string>();
  const pending = [entry];
  for (let file = pending.pop(); file !== undefined; file = pending.pop()) {
    if (seen.has(file)) continue;
    seen.add(file);
    for (const specifier of imports(file)) {
      if (specifier.startsWith('.')) pending.push(normalize(join(dirname(file), specifier)));
      else if (!specifier.startsWith('node:')) packages.add(/^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] as string);
    }
  }
  return [...packages].sort();
}

test.each([
  ['the command line, before a command runs,', 'cli/program.ts', ['commander']],
  [
    'the root',
    'index.ts',
    ['@tensorflow/tfjs-core', 'fastest-levenshtein', 'js-tokens', 'pure-rand', 'stemmer', 'zod'],
  ],
])('%s loads the packages that it needs at once, and no other', (_, entry, packages) => {
  expect(packagesOf(entry)).toEqual(packages);
});

test('what starts a command loads no package at all', () => {
  expect(packagesOf('cli/main.ts')).toEqual([]);
});
