import { chmodSync, copyFileSync, cpSync, existsSync, readdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { machine, type as systemName } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { build, type Plugin } from 'esbuild';
import { projectVersion } from '../src/core/code/package-root.ts';
import { UnavailableError, ValidationError } from '../src/core/errors/errors.ts';
import { measureFolder } from '../src/core/files/built-folder.ts';
import { makeFolder, readBytes, readText, writeAtomic } from '../src/core/files/files.ts';
import { findPackages } from '../src/core/tensors/backend.ts';
import { describeCommit } from '../src/lab/run/environment.ts';
import { OWN_GOLDEN } from '../src/lab/verification/verify.ts';
import { parseNames } from './name-option.ts';

/** Backends whose only requirement of a machine is a driver. */
const PACKABLE = ['webgpu', 'wasm', 'cpu'] as const;
type PackableBackend = (typeof PACKABLE)[number];

export const PACK_USAGE = `pack [options] OUT     a folder of at most 60 MB that runs verify and the device bench where there is no network and no Node
    --backend B    ${PACKABLE.join(', ')} (default webgpu)`;

const MOST_BYTES = 60e6;

/** A file of `bench/peers` that measures torch. */
const TORCH_SCRIPT = 'rates.py';

/** `pack.json` of a folder, which results repeat. */
export interface PackRecord {
  readonly backend: PackableBackend;
  /** `uname -s -m` of the machines on which it runs. */
  readonly system: string;
  readonly version: string;
  readonly commit: string;
  readonly node: string;
}

const require = createRequire(import.meta.url);

/** Packages of tensors, which stay packages, since the loader of backends finds them by their folders. */
const TENSOR_PACKAGES = ['core', 'backend-cpu', 'converter'].map((name) => `@tensorflow/tfjs-${name}`);
const WASM_PACKAGE = '@tensorflow/tfjs-backend-wasm';

/** Packages that are left out, for parts of the library that neither verify nor the bench reaches. */
const NOT_PACKED = [
  'hnswlib-node',
  'usearch',
  '@duckdb/*',
  '@electric-sql/*',
  'pg',
  'pg-copy-streams',
  '@huggingface/*',
  'esbuild',
  'gpt-tokenizer/*',
];

/**
 * Lets esbuild see `require('name')`: it takes a `require` that a module makes by itself for a function like any other.
 * Paths that are computed go to that of the banner.
 */
const REQUIRE: Plugin = {
  name: 'require',
  setup({ onLoad }) {
    const made = 'const require = createRequire(import.meta.url);';
    onLoad({ filter: /[\\/]src[\\/].*\.ts$/ }, ({ path }) => ({
      loader: 'ts',
      contents: readText(path).replace(made, ''),
    }));
  },
};
const BANNER = `import { createRequire as makeRequire } from 'node:module';
const require = makeRequire(import.meta.url);`;

/**
 * Writes `main.js` and its chunks, with all that they import but {@link NOT_PACKED} and the packages of tensors. Chunks
 * that import what is not packed are never loaded.
 */
async function bundleProgram(folder: string): Promise<void> {
  await build({
    entryPoints: { main: join(import.meta.dirname, 'pack-program.ts') },
    outdir: folder,
    chunkNames: 'chunks/[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    external: ['@tensorflow/*', ...NOT_PACKED],
    banner: { js: BANNER },
    plugins: [REQUIRE],
    minifyWhitespace: true,
    charset: 'utf8',
    logLevel: 'warning',
  });
}

interface PackageFile {
  readonly name: string;
  readonly version: string;
  readonly main: string;
  readonly type?: string;
}

const readPackage = (folder: string) => JSON.parse(readText(join(folder, 'package.json'))) as PackageFile;

function writePackage(folder: string, { name, version, main, type = 'commonjs' }: PackageFile): void {
  makeFolder(folder);
  writeAtomic(join(folder, 'package.json'), `${JSON.stringify({ name, version, main, type })}\n`);
}

/** Writes a package of TensorFlow.js as its main file, with what that requires of others, and its wasm binaries. */
async function packTensorPackage(source: string, modules: string): Promise<void> {
  const found = readPackage(source);
  const target = join(modules, found.name);
  writePackage(target, found);
  const outfile = join(target, found.main);
  await build({
    entryPoints: [join(source, found.main)],
    outfile,
    bundle: true,
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    external: ['@tensorflow/*'],
    minifyWhitespace: true,
    logLevel: 'error',
  });
  const from = dirname(join(source, found.main));
  for (const file of readdirSync(from).filter((name) => name.endsWith('.wasm')))
    copyFileSync(join(from, file), join(dirname(outfile), file));
}

function packCompressed(source: string, target: string): void {
  makeFolder(dirname(target));
  writeAtomic(`${target}.gz`, gzipSync(readBytes(source)));
}

/** Writes package `webgpu` with the library of Dawn for this system alone. */
function packDawn(source: string, modules: string): void {
  const found = readPackage(source);
  const target = join(modules, found.name);
  writePackage(target, found);
  copyFileSync(join(source, found.main), join(target, found.main));
  const library = join('dist', `${process.platform}-${process.arch}`, 'dawn.node');
  if (!existsSync(join(source, library)))
    throw new UnavailableError(
      'backend webgpu',
      `${join(source, library)} is missing: ${found.name} ${found.version} has no library for this system; pack on Linux`,
    );
  packCompressed(join(source, library), join(target, library));
}

/** @throws UnavailableError for a backend that is not installed. */
function findWebGpu(): readonly [string, string] {
  const found = findPackages('webgpu');
  if ('fault' in found)
    throw new UnavailableError('backend webgpu', `${found.fault}; run npm run -s ragpp -- backend install webgpu`);
  return found.folders as [string, string];
}

const locatePackage = (name: string) => dirname(require.resolve(`${name}/package.json`));

async function packPackages(backend: PackableBackend, modules: string): Promise<void> {
  const sources = TENSOR_PACKAGES.map(locatePackage);
  if (backend === 'wasm') sources.push(locatePackage(WASM_PACKAGE));
  if (backend === 'webgpu') {
    const [kernels, dawn] = findWebGpu();
    sources.push(kernels);
    packDawn(dawn, modules);
  }
  for (const source of sources) await packTensorPackage(source, modules);
}

/** Writes the binary of the Node that runs this. @throws UnavailableError for one that needs libraries of its own. */
function packNode(folder: string): void {
  const shared = Object.entries(process.config.variables).find(
    ([name, value]) => /^node_shared/.test(name) && value === true,
  );
  if (shared !== undefined)
    throw new UnavailableError(
      'a portable Node',
      `${process.execPath} was built with ${shared[0]} and needs libraries of this machine; run it with Node from nodejs.org`,
    );
  packCompressed(process.execPath, join(folder, 'node'));
}

/**
 * Writes a folder whose `run` needs no network, no Node and no packages: Node's binary and Dawn, compressed, the
 * program, and its golden cases.
 *
 * @param out of which nothing is there yet; removed if packing fails.
 * @returns its bytes.
 * @throws ValidationError if `out` is there or the folder is too large; UnavailableError for what is not installed.
 */
export async function packBench(backend: PackableBackend, out: string): Promise<number> {
  if (existsSync(out)) throw new ValidationError(`folder is there already: ${out}; remove it or name another`);
  const program = join(out, 'program');
  const record: PackRecord = {
    backend,
    system: `${systemName()} ${machine()}`,
    version: projectVersion(),
    commit: describeCommit(),
    node: process.version,
  };
  try {
    await packPackages(backend, join(program, 'node_modules'));
    packNode(out);
    await bundleProgram(join(program, 'dist'));
    copyFileSync(join(import.meta.dirname, 'peers', TORCH_SCRIPT), join(program, TORCH_SCRIPT));
    writePackage(program, { name: 'rag-plusplus', version: record.version, main: 'dist/main.js', type: 'module' });
    cpSync(OWN_GOLDEN, join(program, 'dist/lab/verification/golden'), {
      recursive: true,
      filter: (path) => !path.endsWith('make'),
    });
    writeAtomic(join(out, 'pack.json'), `${JSON.stringify(record, null, 2)}\n`);
    copyFileSync(join(import.meta.dirname, 'pack-run.sh'), join(out, 'run'));
    chmodSync(join(out, 'run'), 0o755);
    const { bytes } = measureFolder(out);
    if (bytes > MOST_BYTES)
      throw new ValidationError(
        `the folder has ${bytes} bytes, more than ${MOST_BYTES}; report this as an error of the bench`,
      );
    return bytes;
  } catch (error) {
    rmSync(out, { recursive: true, force: true });
    throw error;
  }
}

export async function benchPack(args: readonly string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: { backend: { type: 'string', default: 'webgpu' } },
    allowPositionals: true,
  });
  const [backend, another] = parseNames('backend', values.backend, PACKABLE);
  const [out] = positionals;
  if (out === undefined || positionals.length > 1 || backend === undefined || another !== undefined)
    throw new ValidationError(
      `expected one backend and one folder: pack ${args.join(' ')}; use pack --backend webgpu OUT`,
    );
  const bytes = await packBench(backend, resolve(out));
  console.log(`packed ${out}: ${(bytes / 1e6).toFixed(1)} MB; copy it to the machine and start ${join(out, 'run')}`);
}
