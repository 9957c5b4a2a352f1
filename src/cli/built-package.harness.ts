import { chmodSync, cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import type { TestProject } from 'vitest/node';
import { PROJECT_ROOT } from '../core/code/package-root.ts';
import { bundleClientScript, CLIENT_PAGES } from '../lab/report/page/client-script.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The folder of the built package, with `dist` as in the published one. */
    readonly builtPackage: string;
  }
}

/** What the program finds beside `dist`. */
const BESIDE = ['package.json', 'node_modules', 'configs', 'docs', 'examples', 'results'];

/** The name of a module of ours in an import, which `npm run build` rewrites as well. */
const IMPORTED = /((?:from|import)\s*\(?\s*["']\.[^"']*)\.ts(["'])/g;

/** Builds the package without types, harnesses included, as a process starts from it in a third of the time that it takes from the source. */
async function buildPackage(folder: string): Promise<void> {
  const source = join(PROJECT_ROOT, 'src');
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' });
  const { outputFiles } = await build({
    absWorkingDir: source,
    entryPoints: files.filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts')),
    outdir: join(folder, 'dist'),
    outbase: source,
    format: 'esm',
    platform: 'node',
    write: false,
  });
  for (const { path, text } of outputFiles) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text.replace(IMPORTED, '$1.js$2'));
  }
  for (const page of CLIENT_PAGES)
    writeFileSync(join(folder, 'dist/lab/report/client', `${page}.js`), bundleClientScript(page));
  for (const data of ['lab/verification/golden', 'index/vectors/native'])
    cpSync(join(source, data), join(folder, 'dist', data), { recursive: true });
  for (const name of BESIDE) symlinkSync(join(PROJECT_ROOT, name), join(folder, name));
}

/** Builds the package once for all tests that start it. */
export default async function providePackage(project: TestProject): Promise<() => void> {
  const folder = mkdtempSync(join(tmpdir(), 'ragpp-built-'));
  chmodSync(folder, 0o755); // some tests start it as a user without rights
  await buildPackage(folder);
  project.provide('builtPackage', folder);
  return () => rmSync(folder, { recursive: true });
}
