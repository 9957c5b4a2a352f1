import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { UnavailableError } from '../src/core/errors/errors.ts';

/** The environment of `CXXFLAGS="…" npm rebuild hnswlib-node` for the machine's vector instructions. */
export const NATIVE_FLAGS = '-O3 -march=native';

function resolvePackageFolder(name: string, from: string): string {
  return dirname(createRequire(from).resolve(`${name}/package.json`));
}

/** The folder of the hnswlib-node that is installed here. */
export function findHnswlibFolder(): string {
  return resolvePackageFolder('hnswlib-node', import.meta.url);
}

/** Which vector instructions a build of hnswlib-node uses, read from the names of the functions compiled into it. */
export function detectVectorInstructions(folder: string): string {
  const addon = readFileSync(join(folder, 'build', 'Release', 'addon.node'));
  const found = ['AVX512', 'AVX', 'SSE'].find((name) => addon.includes(`InnerProductSIMD16Ext${name}`));
  return found ?? 'unknown, the symbols are stripped';
}

/**
 * Builds a copy of the installed hnswlib-node for this machine in a temporary folder; the installed one is not changed.
 *
 * @returns the copy's package folder, below a `node_modules` that the caller may delete.
 * @throws UnavailableError with the compiler's last lines.
 */
export function buildNativeCopy(): { root: string; folder: string } {
  const root = mkdtempSync(join(tmpdir(), 'hnswlib-native-'));
  const installed = findHnswlibFolder();
  const bindings = resolvePackageFolder('bindings', join(installed, 'package.json'));
  const folders = {
    'hnswlib-node': installed,
    bindings,
    'node-addon-api': resolvePackageFolder('node-addon-api', join(installed, 'package.json')),
    'file-uri-to-path': resolvePackageFolder('file-uri-to-path', join(bindings, 'package.json')),
  };
  for (const [name, folder] of Object.entries(folders)) {
    const target = join(root, 'node_modules', name);
    mkdirSync(target, { recursive: true });
    cpSync(folder, target, { recursive: true, filter: (path) => path !== join(installed, 'build') });
  }
  const manifest = { private: true, dependencies: { 'hnswlib-node': '*' }, allowScripts: { 'hnswlib-node': true } };
  writeFileSync(join(root, 'package.json'), JSON.stringify(manifest));
  try {
    const env = { ...process.env, CXXFLAGS: NATIVE_FLAGS };
    execFileSync('npm', ['rebuild', 'hnswlib-node'], { cwd: root, env, stdio: 'pipe' });
  } catch (error) {
    const output = String((error as { stderr?: Buffer }).stderr ?? error).trim();
    throw new UnavailableError(
      'native build of hnswlib-node',
      `${output.split('\n').slice(-3).join(' ')}; install a C++ compiler`,
      {
        cause: error,
      },
    );
  }
  return { root, folder: join(root, 'node_modules', 'hnswlib-node') };
}
