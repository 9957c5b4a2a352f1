import { vi } from 'vitest';
import { findBuiltModule } from './built-module.harness.ts';

/** The command line: a run goes on in workers of its own code, and the versions of that code are those of the source. */
const WORK = 'cli/work';

// Processes that decode foreign files, of which some tests start dozens, start from the built package, as those of an installed one do.
vi.mock('./code/package-root.ts', async (importOriginal) => {
  const original = await importOriginal<typeof import('./code/package-root.ts')>();
  return {
    ...original,
    findProgram: (module: string) =>
      module === WORK ? original.findProgram(module) : { nodeOptions: [], main: findBuiltModule(module) },
  };
});
