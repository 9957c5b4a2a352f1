import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { buildProgram } from './cli/program.ts';
import { loadConfig, resolveConfig } from './experiment/config/config.ts';
import { parseYaml } from './experiment/config/config-file.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const guides = join(root, 'docs/guides');
const pages = readdirSync(guides).map((name) => ({ name, text: readFileSync(join(guides, name), 'utf8') }));

/** The blocks of a language, with their page. */
function listBlocks(language: string): { readonly name: string; readonly code: string }[] {
  const fence = new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\`$`, 'gm');
  return pages.flatMap(({ name, text }) =>
    [...text.matchAll(fence)].map(([, code], i) => ({ name: `${name}, block ${i + 1}`, code: code as string })),
  );
}

test('there are nine guides, of fewer than 120 lines', () => {
  expect(pages).toHaveLength(9);
  for (const { name, text } of pages) expect(text.split('\n').length, name).toBeLessThan(120);
});

/** Relative imports of a block that names its file, as paths of the project. */
function resolveImports(code: string): string {
  const [, file] = /^\/\/ (src\/\S+\.ts)\n/.exec(code) ?? [];
  if (file === undefined) return code;
  return code.replace(/from '(\.\.?\/[^']+)'/g, (_, path) => `from '${resolve(root, dirname(file), path)}'`);
}

test('every program of a guide, and every file that it adds, has correct types', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ragpp-guides-'));
  try {
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'), 'dir');
    const blocks = listBlocks('ts');
    expect(blocks.length).toBeGreaterThan(10);
    mkdirSync(join(folder, 'blocks'));
    for (const [i, { code }] of blocks.entries())
      writeFileSync(join(folder, 'blocks', `block-${i}.ts`), resolveImports(code));
    const compilerOptions = { rewriteRelativeImportExtensions: false }; // imports are absolute here
    const config = { extends: join(root, 'tsconfig.json'), compilerOptions, include: ['blocks'] };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    expect(spawnSync(process.execPath, [tsc, '-p', folder], { encoding: 'utf8' }).stdout).toBe('');
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test.each(listBlocks('yaml'))('the config of $name is valid', ({ name, code }) => {
  expect(() => resolveConfig(parseYaml(code, name), name)).not.toThrow();
});

/** Words of a line of shell, without quotes. */
const splitWords = (line: string) => (line.match(/'[^']*'|\S+/g) ?? []).map((word) => word.replace(/^'|'$/g, ''));

test.each(listBlocks('sh').flatMap(({ code }) => code.trim().split('\n')))('%s can be typed', (line) => {
  const words = splitWords(line.replace(/ #.*/, '').replace(/^npm run -s ragpp -- |^ragpp /, ''));
  const command = buildProgram().commands.find((known) => known.name() === words[0]);
  expect(command, line).toBeDefined();
  const { unknown } = command?.parseOptions(words.slice(1)) ?? { unknown: [line] };
  expect(unknown).toEqual([]);
  const file = words.find((word) => word.endsWith('.yaml'));
  const settings = words.filter((_, i) => words[i - 1] === '--set');
  if (file !== undefined) expect(() => loadConfig(join(root, file), settings)).not.toThrow();
});
