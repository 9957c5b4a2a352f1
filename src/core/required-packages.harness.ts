import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'vitest';
import { PROJECT_ROOT } from './code/package-root.ts';

/** Packages of some tests that `npm ci` does not install, with the script that runs these tests with them. */
const REQUIRED = {
  DuckDB: { packages: ['@duckdb/node-api'], script: '.ci/databases', variable: 'RAGPP_TEST_DATABASES' },
  PGlite: {
    packages: ['@electric-sql/pglite', '@electric-sql/pglite-pgvector'],
    script: '.ci/databases',
    variable: 'RAGPP_TEST_DATABASES',
  },
  usearch: { packages: ['usearch'], script: '.ci/databases', variable: 'RAGPP_TEST_DATABASES' },
  MCP: {
    packages: ['@modelcontextprotocol/server', '@modelcontextprotocol/client'],
    script: '.ci/mcp',
    variable: 'RAGPP_TEST_MCP',
  },
  wabt: { packages: ['wabt'], script: '.ci/kernels', variable: 'RAGPP_TEST_KERNELS' },
} as const;

/** Tests that run where the packages are installed, and those that run where they are missing. */
export interface ConditionalTests {
  readonly isInstalled: boolean;
  readonly test: ReturnType<typeof test.skipIf>;
  readonly describe: ReturnType<typeof describe.skipIf>;
  readonly testWithout: ReturnType<typeof test.skipIf>;
}

/**
 * Prints why tests are skipped, if a package that they require is missing.
 *
 * @throws Error for a missing package in the script that installs it.
 */
export function requirePackages(what: keyof typeof REQUIRED): ConditionalTests {
  const { packages, script, variable } = REQUIRED[what];
  const missing = packages.filter((name) => !existsSync(join(PROJECT_ROOT, 'node_modules', name)));
  const isInstalled = missing.length === 0;
  if (!isInstalled) {
    const reason = `${missing.join(' and ')} not installed; run ${script}`;
    if (process.env[variable] === '1') throw new Error(reason);
    process.stderr.write(`skipped: tests that require ${what}, ${reason}\n`);
  }
  return {
    isInstalled,
    test: test.skipIf(!isInstalled),
    describe: describe.skipIf(!isInstalled),
    testWithout: test.skipIf(isInstalled),
  };
}
