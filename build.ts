import { cpSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { writeAtomic } from './src/core/files/files.ts';
import { bundleClientScript, CLIENT_PAGES } from './src/lab/report/page/client-script.ts';
import {
  EMBEDDING_MODULES,
  RECORD_MODULES,
  TRAINING_MODULES,
  TUNING_MODULES,
  WORKSPACE_MODULES,
} from './src/lab/run/environment.ts';

// a step of `npm run build`: bundles the package into a folder, which tsc adds the declarations to

/** Modules that start a process. */
const PROGRAMS = ['cli/main', 'cli/work', 'core/decoding/decoder-process'];

/** Golden cases are data, but for the program that makes them. */
const GOLDEN = 'lab/verification/golden';
/** C++ that `ragpp backend install hnsw` compiles. */
const NATIVE = 'index/vectors/native';

const folder = process.argv[2];
if (folder === undefined) throw new Error('no folder given; pass the folder of the built package');
const source = join(import.meta.dirname, 'src');

const { exports } = JSON.parse(readFileSync(join(import.meta.dirname, 'package.json'), 'utf8')) as {
  readonly exports: Readonly<Record<string, string | { readonly import: string }>>;
};
const doors = Object.values(exports).flatMap((target) =>
  typeof target === 'string' ? [] : [target.import.replace(/^\.\/dist\/(.*)\.js$/, '$1')],
);
const versioned = [
  ...WORKSPACE_MODULES,
  ...EMBEDDING_MODULES,
  ...TUNING_MODULES,
  ...RECORD_MODULES,
  'cli/actions/run', // see `measuringVersion`
  ...TRAINING_MODULES,
];

rmSync(folder, { recursive: true, force: true });
// one build: its entry points share their modules, so that a plugin and the command have the same classes and
// registries
await build({
  entryPoints: [...doors, ...PROGRAMS, ...versioned].map((module) => join(source, `${module}.ts`)),
  outdir: folder,
  outbase: source,
  chunkNames: 'chunks/[name]-[hash]',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  packages: 'external',
  charset: 'utf8',
  sourcemap: true,
  logLevel: 'warning',
});
for (const page of CLIENT_PAGES) writeAtomic(join(folder, `lab/report/client/${page}.js`), bundleClientScript(page));
cpSync(join(source, GOLDEN), join(folder, GOLDEN), { recursive: true, filter: (path) => !path.endsWith('make') });
cpSync(join(source, NATIVE), join(folder, NATIVE), { recursive: true });
