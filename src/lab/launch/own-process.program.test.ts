import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { PROJECT_ROOT } from '../run/environment.ts';
import { findOwnProgram, type Program } from './own-process.ts';

const root = realpathSync(mkdtempSync(join(tmpdir(), 'ragpp-program-')));
afterAll(() => rmSync(root, { recursive: true }));

test('from the source, Node reads TypeScript in whatever folder, and the command line is there', () => {
  const { nodeOptions, main } = findOwnProgram();
  expect(main).toBe(join(PROJECT_ROOT, 'src', 'cli', 'work.ts'));
  expect(existsSync(main)).toBe(true);
  writeFileSync(join(root, 'typed.ts'), 'const size: number = 7; enum Kind { A = 5 }\nconsole.log(size * Kind.A);\n');
  const written = execFileSync(process.execPath, [...nodeOptions, 'typed.ts'], { cwd: root, encoding: 'utf8' });
  expect(written).toBe('35\n');
});

test('from the build, Node needs no loader', async () => {
  const dist = join(root, 'dist');
  writeFileSync(join(root, 'package.json'), '{"type": "module"}');
  const compiler = join(PROJECT_ROOT, 'node_modules', '.bin', 'tsc');
  const source = fileURLToPath(new URL('./own-process.ts', import.meta.url));
  const options = ['--ignoreConfig', '--rootDir', join(PROJECT_ROOT, 'src'), '--outDir', dist, '--module', 'nodenext'];
  options.push('--types', 'node', '--skipLibCheck', '--rewriteRelativeImportExtensions');
  execFileSync(compiler, [source, ...options], { cwd: PROJECT_ROOT });
  const built = (await import(pathToFileURL(join(dist, 'lab', 'launch', 'own-process.js')).href)) as {
    findOwnProgram(): Program;
  };
  expect(built.findOwnProgram()).toEqual({ nodeOptions: [], main: join(dist, 'cli', 'work.js') });
});
