import { createRequire } from 'node:module';
import { join } from 'node:path';
import { type BackendName, useBackend } from '../src/core/tensors/backend.ts';
import { type HnswlibNode, wrapAddon, wrapHnswlib } from '../src/index/vectors/hnsw.ts';
import { type BenchSettings, timeHnsw } from './candidate-timing.ts';

/** The message of the parent: a process can load only one build of the addon. */
export interface ChildTask {
  readonly settings: BenchSettings;
  readonly backend: BackendName;
  /** Package folder of the build of hnswlib-node to measure, or the file of the addon. */
  readonly library: { readonly folder: string } | { readonly addon: string };
}

const task = JSON.parse(process.argv[2]!) as ChildTask;
await useBackend(task.backend);
const loadHnswlib = (folder: string) => createRequire(import.meta.url)(join(folder, 'lib', 'index.js')) as HnswlibNode;
const library = 'addon' in task.library ? wrapAddon(task.library.addon) : wrapHnswlib(loadHnswlib(task.library.folder));
process.send!(await timeHnsw(task.settings, library));
