import { buildSync, type Metafile } from 'esbuild';
import { SOURCE } from './entry-points.harness.ts';

/** Modules that an import of a file loads before it runs: neither types nor what is imported on first use. */
export interface Loaded {
  /** Files of src, with the file itself. */
  readonly modules: readonly string[];
  /** In the order of their names, without parts of Node. */
  readonly packages: readonly string[];
}

/** Imports of the files of src that an entry reaches, by file. */
function readImports(entry: string): Metafile['inputs'] {
  return buildSync({
    ...{ entryPoints: [entry], absWorkingDir: SOURCE, outdir: 'none', write: false, metafile: true },
    ...{ bundle: true, packages: 'external', platform: 'node', format: 'esm', logLevel: 'silent' },
  }).metafile.inputs;
}

/** @param entry a file of src. */
export function listLoaded(entry: string): Loaded {
  const inputs = readImports(entry);
  const modules = new Set([entry]);
  const packages = new Set<string>();
  for (const module of modules)
    for (const { path, kind, external } of inputs[module]?.imports ?? []) {
      if (kind !== 'import-statement') continue; // used later, or not at all
      if (external !== true) modules.add(path);
      else if (!path.startsWith('node:')) packages.add(/^(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] as string);
    }
  return { modules: [...modules], packages: [...packages].sort() };
}
