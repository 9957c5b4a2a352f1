import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildProgram } from './cli/program.ts';
import { DOORS, SOURCE } from './entry-points.harness.ts';
import { parseYaml } from './lab/composition/config-file.ts';
import { loadConfig, resolveConfig } from './lab/config/config.ts';

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

test('there are eleven guides, of fewer than 120 lines', () => {
  expect(pages).toHaveLength(11);
  for (const { name, text } of pages) expect(text.split('\n').length, name).toBeLessThan(120);
});

/** Relative imports of a block that names its file, as paths of the project. */
function resolveImports(code: string): string {
  const [, file] = /^\/\/ (src\/\S+\.ts)\n/.exec(code) ?? [];
  if (file === undefined) return code;
  return code.replace(/from '(\.\.?\/[^']+)'/g, (_, path) => `from '${resolve(root, dirname(file), path)}'`);
}

/** Imports of the package, as paths of its source. */
const resolveDoors = (code: string) =>
  code.replace(/'(rag-plusplus(?:\/\w+)?)'/g, (_, door) => JSON.stringify(join(SOURCE, DOORS.get(door) as string)));

const programs = listBlocks('ts');
const folder = mkdtempSync(join(tmpdir(), 'ragpp-guides-'));
afterAll(() => rmSync(folder, { recursive: true }));
beforeAll(() => {
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'), 'dir');
  mkdirSync(join(folder, 'blocks'));
  for (const [i, { code }] of programs.entries())
    writeFileSync(join(folder, 'blocks', `block-${i}.ts`), resolveImports(code));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
});

/** Imports every block in one process. @returns what each printed */
function runBlocks(): string[] {
  const files = programs.map(({ code }, i) => {
    const file = join(folder, 'blocks', `run-${i}.ts`);
    writeFileSync(file, resolveDoors(resolveImports(code)));
    return file;
  });
  const runner = join(folder, 'runner.ts');
  writeFileSync(
    runner,
    `import { format } from 'node:util';
const outputs: string[] = [];
console.log = (...values: unknown[]) => void (outputs[outputs.length - 1] += format(...values) + '\\n');
for (const file of ${JSON.stringify(files)}) {
  outputs.push('');
  await import(file);
}
process.stdout.write(JSON.stringify(outputs));`,
  );
  const { stdout, stderr, status } = spawnSync(process.execPath, ['--import', 'tsx', runner], {
    cwd: root,
    encoding: 'utf8',
  });
  expect(status, stderr).toBe(0);
  return JSON.parse(stdout) as string[];
}

test('every program of a guide runs, and prints what the guide says', () => {
  const outputs = runBlocks();
  const printed = programs.flatMap(({ name, code }, i) =>
    code.includes('console.log(') ? [{ name, code, text: outputs[i] ?? '' }] : [],
  );
  expect(printed.length).toBeGreaterThan(5);
  for (const { name, code, text } of printed) {
    expect(text.length, name).toBeGreaterThan(1);
    const [, said] =
      pages
        .map((page) => page.text.split(code)[1])
        .find(Boolean)
        ?.match(/^```\n\n```text\n([\s\S]*?)```/) ?? [];
    if (said !== undefined) expect(text, name).toBe(said);
  }
  const said = pages.reduce((count, { text }) => count + text.split('```text\n').length - 1, 0);
  expect(said).toBe(5); // with the judgements of the first hour
});

test.each(listBlocks('yaml'))('the config of $name is valid', ({ name, code }) => {
  expect(() => resolveConfig(parseYaml(code, name), name)).not.toThrow();
});

/** Words of a line of shell, without quotes. */
const splitWords = (line: string) => (line.match(/'[^']*'|\S+/g) ?? []).map((word) => word.replace(/^'|'$/g, ''));

test.each(listBlocks('sh').flatMap(({ code }) => code.trim().split('\n')))('%s can be typed', async (line) => {
  const words = splitWords(line.replace(/ #.*/, '').replace(/^npm run -s ragpp -- |^ragpp /, ''));
  const first = (await buildProgram()).commands.find((known) => known.name() === words[0]);
  const second = first?.commands.find((known) => known.name() === words[1]);
  const command = second ?? first;
  expect(command, line).toBeDefined();
  const { unknown } = command?.parseOptions(words.slice(second === undefined ? 1 : 2)) ?? { unknown: [line] };
  expect(unknown).toEqual([]);
  const file = words.find((word) => word.endsWith('.yaml'));
  const settings = words.filter((_, i) => words[i - 1] === '--set');
  if (file !== undefined) expect(() => loadConfig(join(root, file), settings)).not.toThrow();
});
