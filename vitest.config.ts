import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig, type TestProjectConfiguration } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const root = import.meta.dirname;

function testFiles(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts'))
    .map((file) => `${folder}/${file}`);
}

const createContentFilter = (pattern: RegExp) => (file: string) => pattern.test(readFileSync(join(root, file), 'utf8'));

/** What runs on every backend that is asked for. */
const listTensorTests = () => testFiles('src').filter(createContentFilter(/describe\.each\(TEST_BACKENDS/));

/**
 * Tests that start processes, as what reads Parquet or zip does: each wasm module reserves 10 GB of addresses, and a
 * process with several of them cannot be forked. Tests that measure their own process need one without leftovers.
 */
function listProcessTests(): string[] {
  const starts = createContentFilter(
    /child_process|vi\.mock\(|playwright-core|(?:built-module|command|kills|process|sample-page|slurm)\.harness|environment\.ts|held-bytes\.ts|electric-sql|zip\.fixture|\.\/(?:decoder|mail-table|slack-export)\.ts|vector-files\.fixture|gzipSync|core\/decoding|external-program\.ts|install-backend\.ts/,
  );
  return [
    ...testFiles('src/cli'),
    ...['src', 'website'].flatMap(testFiles).filter((file) => !file.startsWith('src/cli/') && starts(file)),
  ].filter((file) => !isStudy(file));
}

/** True of tests that run whole programs on data, or dozens of processes: `npm run test:studies`. */
const isStudy = (file: string) => /^(?:bench|experiments)\//.test(file) || STUDIES.test(file);

const STUDIES = new RegExp(
  `^src/(?:${[
    'cli/(?:main|memory-accepted|memory-interruption|memory-tables|run\\.configs|run\\.plugins|run\\.processes|run\\.slurm|sliced-interruption)',
    'cli/process/supervision\\.interruption',
    'example-types|guides|hostile-files|readme|without-set-up',
    'lab/run/(?:queue-kills|replayed-configs)',
    'memory/(?:context/interleavings|engine/memory-(?:moment-replays|pgvector)|facts/fact-store-faults)',
    'memory/(?:removal/removal-kills|store/kills)',
  ].join('|')})\\.test\\.ts$`,
);

const asked = process.env.RAGPP_TEST_BACKENDS?.split(',');
const onWebGpu = asked?.includes('webgpu') ?? false;

/** Files of a worker share its modules where they can: importing tfjs and zod for each file takes half of the time. */
function listTestProjects(): TestProjectConfiguration[] {
  const processes = listProcessTests();
  const all = ['src', 'experiments', 'bench', 'website', 'notebooks/runner'].flatMap(testFiles);
  const studies = all.filter(isStudy);
  const built = {
    globalSetup: ['src/cli/built-package.harness.ts'],
    setupFiles: ['src/core/built-program.harness.ts'],
  };
  const shared = all.filter((file) => !processes.includes(file) && !isStudy(file));
  return [
    { extends: true, test: { name: 'shared', include: shared, isolate: false } },
    { extends: true, test: { name: 'processes', include: processes, ...built } },
    { extends: true, test: { name: 'studies', include: studies, ...built } },
  ];
}

/** The projects in the order in which they run: no worker waits at the end for a long file of another one. */
const LONGEST_FIRST = ['studies', 'processes', 'shared'];

class LongestFirstSequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ project }: TestSpecification) => LONGEST_FIRST.indexOf(project.name);
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}

const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  exports: Record<string, string | { import: string }>;
};

export default defineConfig({
  // Examples and plugins import the package by its name, as those of a user do.
  resolve: {
    alias: Object.entries(exports).flatMap(([path, target]) => {
      const file = typeof target === 'string' ? null : target.import.replace(/^\.\/dist\/(.*)js$/, 'src/$1ts');
      return file === null
        ? []
        : [{ find: new RegExp(`^rag-plusplus${path.slice(1)}$`), replacement: join(root, file) }];
    }),
  },
  test: {
    projects:
      asked === undefined
        ? listTestProjects()
        : [{ extends: true, test: { name: 'backends', include: listTensorTests(), isolate: false } }],
    globalSetup: asked === undefined ? [] : ['src/core/setup.harness.ts'],
    setupFiles: [
      'src/core/properties.harness.ts',
      'src/core/equality.harness.ts',
      ...(onWebGpu ? ['src/core/webgpu.harness.ts'] : []),
    ],
    sequence: { sequencer: LongestFirstSequencer },
    pool: 'forks',
    maxWorkers: 3, // one more than cores of CI, since some tests wait for a process or a page
    // Vulkan in software compiles a shader in a tenth of a second.
    testTimeout: onWebGpu ? 300_000 : 60_000,
    hookTimeout: 120_000,
  },
});
