import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { describeCommit, findInstalledVersion, PROJECT_ROOT, projectVersion } from './environment.ts';

const checkout = mkdtempSync(join(tmpdir(), 'environment-'));
afterAll(() => rmSync(checkout, { recursive: true }));

function runIdentifiedGit(...args: string[]): string {
  const identity = ['-c', 'user.name=a', '-c', 'user.email=a@b.invalid', '-c', 'commit.gpgsign=false'];
  return execFileSync('git', [...identity, ...args], { cwd: checkout, encoding: 'utf8' }).trim();
}

test('the version is that of package.json', () => {
  const { version } = JSON.parse(readFileSync(join(PROJECT_ROOT, 'package.json'), 'utf8')) as { version: string };
  expect(projectVersion()).toBe(version);
});

test('a package that is not installed has no version', () => {
  expect(findInstalledVersion('no-such-package-anywhere')).toBeNull();
  expect(findInstalledVersion('zod')).toMatch(/^4\./);
});

test('the commit is that of the checkout which holds the code, never of one that the package was installed in', () => {
  expect(describeCommit(checkout)).toBe('unknown');
  runIdentifiedGit('init', '-q');
  writeFileSync(join(checkout, 'package.json'), '{}');
  runIdentifiedGit('add', 'package.json');
  runIdentifiedGit('commit', '-q', '-m', 'first');
  const commit = runIdentifiedGit('rev-parse', 'HEAD').slice(0, 12);
  expect(describeCommit(checkout)).toBe(commit);
  writeFileSync(join(checkout, 'package.json'), '{ }');
  expect(describeCommit(checkout)).toBe(`${commit}+changes`);
  const installed = join(checkout, 'node_modules', 'rag-plusplus');
  mkdirSync(installed, { recursive: true });
  writeFileSync(join(installed, 'package.json'), '{}');
  expect(describeCommit(installed)).toBe('unknown');
});
