import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

const EVERY_TEST = ['src/**/*.test.ts', 'bench/**/*.test.ts', 'experiments/**/*.test.ts'];
/** Tests that start processes: a worker that has grown large cannot be forked. */
const PROCESS_TESTS = [
  'bench/**/*.test.ts',
  'src/cli/**/*.test.ts',
  'src/**/*.browser.test.ts',
  'src/**/launch/*.test.ts',
];

/** What runs on every backend that is asked for. */
function tensorTests(): string[] {
  const folder = import.meta.dirname;
  return readdirSync(join(folder, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts'))
    .map((file) => `src/${file}`)
    .filter((file) => readFileSync(join(folder, file), 'utf8').includes('describe.each(TEST_BACKENDS'));
}

const asked = process.env.RAGPP_TEST_BACKENDS?.split(',');
const onWebGpu = asked?.includes('webgpu') ?? false;

export default defineConfig({
  test: {
    projects:
      asked === undefined
        ? [
            // Files of a worker share its modules: importing tfjs and zod for each file takes half of the time.
            { extends: true, test: { name: 'shared', include: EVERY_TEST, exclude: PROCESS_TESTS, isolate: false } },
            { extends: true, test: { name: 'processes', include: PROCESS_TESTS } },
          ]
        : [{ extends: true, test: { name: 'backends', include: tensorTests() } }],
    globalSetup: asked === undefined ? [] : ['src/core/setup.harness.ts'],
    setupFiles: ['src/core/properties.harness.ts', ...(onWebGpu ? ['src/core/webgpu.harness.ts'] : [])],
    pool: 'forks',
    maxWorkers: 2,
    // Vulkan in software compiles a shader in a tenth of a second.
    testTimeout: onWebGpu ? 300_000 : 60_000,
    hookTimeout: 120_000,
  },
});
