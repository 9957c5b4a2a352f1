import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test, vi } from 'vitest';
import { ExternalProgramError, findErrorLine, isProgramFound, runExternal } from './external-program.ts';

const folder = mkdtempSync(join(tmpdir(), 'ragpp-external-'));
afterAll(() => rmSync(folder, { recursive: true }));
afterEach(() => vi.unstubAllEnvs());

const { signal } = new AbortController();
const runScript = (script: string, more = {}) => runExternal('sh', ['-c', script], { folder, signal, ...more });

test('what a program prints comes back, and the environment is that of this process with changes', async () => {
  vi.stubEnv('RAGPP_KEPT', 'kept');
  const output = await runScript('echo "$RAGPP_KEPT"; pwd; echo "$RAGPP_ADDED"; echo aside >&2', {
    environment: { RAGPP_ADDED: 'added' },
  });
  expect(output).toBe(`kept\n${folder}\nadded\n`);
});

test('a program that fails is an error with its output', async () => {
  const failing = runScript('echo first; exit 3');
  await expect(failing).rejects.toThrow(/^sh ended with 3$/);
  await expect(failing).rejects.toMatchObject({ output: 'first\n' });
  await expect(runScript('kill -TERM $$')).rejects.toThrow(/^sh was ended by SIGTERM$/);
});

test('a program that is not there is an error', async () => {
  const failing = runExternal('no-such-program', [], { folder, signal });
  await expect(failing).rejects.toThrow(ExternalProgramError);
  await expect(failing).rejects.toThrow(/^no-such-program cannot be started: /);
});

test('an interruption ends a program and what it has started', async () => {
  const controller = new AbortController();
  const failing = runScript('sleep 600 & echo $! > started; wait', { signal: controller.signal });
  const started = join(folder, 'started');
  await expect.poll(() => readStarted(started)).toBeGreaterThan(0);
  const pid = readStarted(started);
  controller.abort();
  await expect(failing).rejects.toThrow(/^sh was interrupted$/);
  await expect.poll(() => isRunning(pid)).toBe(false);
});

/** The number of a process that a script has written; 0 before it has. */
function readStarted(path: string): number {
  try {
    return Number(readFileSync(path, 'utf8'));
  } catch {
    return 0;
  }
}

/** A process that ended and whose parent has not asked for its exit code does not run. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return false;
  }
}

test('a program that was interrupted before it began does nothing', async () => {
  await expect(runScript('sleep 600', { signal: AbortSignal.abort() })).rejects.toThrow(/^sh was interrupted$/);
});

test('a program is found in PATH alone', () => {
  expect(isProgramFound('sh')).toBe(true);
  vi.stubEnv('PATH', folder);
  expect(isProgramFound('sh')).toBe(false);
  vi.stubEnv('PATH', '');
  expect(isProgramFound('sh')).toBe(false);
});

test.each([
  ['npm error code E404\nnpm error 404 Not Found\nnpm error A complete log is in x\n', 'npm error 404 Not Found'],
  ['WARNING: slow\nERROR: No matching distribution found for x==1\n', 'ERROR: No matching distribution found for x==1'],
  ['a.cc: In function f\na.cc:1: error: no x\nmake: *** [a.o] Error 1\n', 'a.cc:1: error: no x'],
  ['first\nlast\n\n', 'last'],
  ['', 'it wrote nothing'],
])('the line of %j that tells most', (output, line) => {
  expect(findErrorLine(output)).toBe(line);
});
