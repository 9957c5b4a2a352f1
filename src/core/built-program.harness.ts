import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { vi } from 'vitest';
import { findBuiltModule } from './built-module.harness.ts';

const SOURCE = fileURLToPath(new URL('..', import.meta.url));

/** The command line: a run goes on in workers of its own code, and the versions of that code are those of the source. */
const WORK = /\/cli\/work$/;

// Processes that decode foreign files, of which some tests start dozens, start from the built package, as those of an installed one do.
vi.mock('./terminal/own-program.ts', async (importOriginal) => {
  const original = await importOriginal<typeof import('./terminal/own-program.ts')>();
  return {
    ...original,
    findProgram(module: string, from: string) {
      if (WORK.test(module)) return original.findProgram(module, from);
      const path = relative(SOURCE, fileURLToPath(new URL(module, from)));
      return { nodeOptions: [], main: findBuiltModule(path) };
    },
  };
});
