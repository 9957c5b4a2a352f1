import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

const EVERY_TEST = ['src/**/*.test.ts', 'bench/**/*.test.ts', 'experiments/**/*.test.ts'];

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
    include: asked === undefined ? EVERY_TEST : tensorTests(),
    globalSetup: asked === undefined ? [] : ['src/core/sample-setup.ts'],
    setupFiles: ['src/core/sample-properties.ts', ...(onWebGpu ? ['src/core/sample-webgpu.ts'] : [])],
    pool: 'forks',
    maxWorkers: 2,
    // Vulkan in software compiles a shader in a tenth of a second.
    testTimeout: onWebGpu ? 300_000 : 60_000,
    hookTimeout: 120_000,
  },
});
