import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, expect, test } from 'vitest';
import { findBuiltUrl } from '../../core/built-module.harness.ts';
import { BUSY } from '../../lab/launch/busy.fixture.ts';
import type { Ended } from '../process.harness.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-supervision-'));
afterAll(() => rmSync(root, { recursive: true }));

const RESUME = 'what was cached stays: a run goes on from there with --resume, a training when it is started again';
/** The cursor is shown, lines are wrapped. */
const RESTORED = '\x1b[?25h\x1b[?7h';
let programs = 0;

/** Supervises a program of some code. @param signal is sent to the supervisor once the program has written to stdout. */
function superviseCode(
  code: string,
  signal?: NodeJS.Signals,
  nodeOptions: readonly string[] = [],
  execPath: string = process.execPath,
): Promise<Ended> {
  const main = join(root, `${programs++}.mjs`);
  writeFileSync(main, code);
  const supervisor = `
    import { supervise } from ${JSON.stringify(findBuiltUrl('cli/process/supervision'))};
    process.stderr.isTTY = true;
    process.execPath = ${JSON.stringify(execPath)};
    process.exitCode = await supervise(${JSON.stringify({ nodeOptions, main })}, ['7', 'a b']);`;
  const options = ['--input-type=module', '--eval', supervisor];
  const child = spawn(process.execPath, options, { stdio: ['ignore', 'pipe', 'pipe'] });
  const written = { stdout: '', stderr: '' };
  child.stdout.on('data', (text) => {
    written.stdout += text;
  });
  child.stdout.once('data', () => signal !== undefined && child.kill(signal));
  child.stderr.on('data', (text) => {
    written.stderr += text;
  });
  return new Promise((resolve) => {
    child.once('close', (code, signal) => resolve({ code, signal, ...written }));
  });
}

test.concurrent.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('%s ends a program that is busy in synchronous work and hears no signal', async (signal, code) => {
  const heedless = `for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => console.log('heard'));`;
  expect(await superviseCode(heedless + BUSY, signal)).toEqual({
    code,
    signal: null,
    stdout: 'busy\n',
    stderr: `${RESTORED}\nragpp: interrupted; ${RESUME}\n`,
  });
});

test.concurrent('a program whose event loop turns ends in order', async () => {
  const heeding = `
    process.on('SIGINT', () => console.log('released') ?? process.exit(130));
    setInterval(() => {}, 1000);
    console.log('ready');`;
  const { code, stdout, stderr } = await superviseCode(heeding, 'SIGTERM');
  expect({ code, stdout, stderr }).toEqual({
    code: 143,
    stdout: 'ready\nreleased\n',
    stderr: `${RESTORED}\nragpp: interrupted; ${RESUME}\n`,
  });
});

test.concurrent('a program that ends by itself keeps its arguments and its exit code, and nothing is added', async () => {
  const code = 'console.log(process.argv.slice(2)); process.exitCode = 7;';
  expect(await superviseCode(code)).toEqual({ code: 7, signal: null, stdout: "[ '7', 'a b' ]\n", stderr: '' });
});

test.concurrent.each([
  ['SIGTERM', 143, 'interrupted'],
  ['SIGKILL', 137, 'killed by SIGKILL; the machine may have run out of memory'],
  ['SIGSEGV', 139, 'ended by SIGSEGV'],
] as const)('a program that %s ends is reported with what to do', async (signal, code, remark) => {
  const ending = await superviseCode(`process.kill(process.pid, '${signal}'); setInterval(() => {}, 1000);`);
  expect(ending).toEqual({ code, signal: null, stdout: '', stderr: `${RESTORED}\nragpp: ${remark}; ${RESUME}\n` });
});

test.concurrent('a program of an npm script ends when npm is killed, also if it is busy', async () => {
  const main = join(root, `${programs++}.mjs`);
  writeFileSync(main, BUSY);
  const supervisor = join(root, `${programs++}.mjs`);
  writeFileSync(
    supervisor,
    `import { supervise } from ${JSON.stringify(findBuiltUrl('cli/process/supervision'))};
     process.exitCode = await supervise(${JSON.stringify({ nodeOptions: [], main })}, ['7']);`,
  );
  const hold = [process.execPath, supervisor].map((part) => `'${part}'`).join(' ');
  writeFileSync(join(root, 'package.json'), JSON.stringify({ scripts: { hold: `${hold} && true` } }));
  const npm = spawn('npm', ['run', '-s', 'hold'], { cwd: root, stdio: ['ignore', 'pipe', 'ignore'] });
  npm.stdout.once('data', () => npm.kill('SIGKILL'));
  expect(await text(npm.stdout)).toBe('busy\n'); // ends when all that inherited it are gone
});

test.concurrent('a process that cannot be started is an error of one line', async () => {
  expect(await superviseCode('', undefined, [], '/nonexistent/node')).toEqual({
    code: 1,
    signal: null,
    stdout: '',
    stderr:
      'ragpp: cannot start the process that does the work: spawn /nonexistent/node ENOENT; end other processes and run again\n',
  });
});

test.concurrent('a program whose heap is full ends with the limit and the option that raises it', async () => {
  const hoard = 'const held = []; for (;;) held.push(new Array(1000).fill(held.length));';
  const { code, stderr } = await superviseCode(hoard, undefined, ['--max-old-space-size=31']);
  expect(code).toBe(134);
  expect(stderr).toMatch(/FATAL ERROR: .* heap out of memory/);
  expect(stderr).toMatch(
    /\nragpp: ended by SIGABRT; if the lines above report a heap out of memory, the heap limit is \d+ MiB; raise it with NODE_OPTIONS=--max-old-space-size=\d+, or take fewer queries with --limit-queries; what was cached stays/,
  );
});
