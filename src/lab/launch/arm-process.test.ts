import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import { findBuiltUrl } from '../../core/built-module.harness.ts';
import { ProcessDiedError } from '../../core/errors/errors.ts';
import { ArmProcess, buildArmOptions, describeMemoryAdvice, findLastWords, isOutOfMemory } from './arm-process.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-arm-process-'));
afterAll(() => rmSync(root, { recursive: true }));
let folder: string;
let worker: ArmProcess | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(root, 'run-'));
  worker = undefined;
});
afterEach(() => worker?.endGracefully());

/** A program that answers as the command line does; the names of its arms determine their outcome. */
const SPEAKING = `
  process.once('disconnect', () => process.exit());
  process.on('message', ({ arm }) => {
    if (arm === 'exit') process.stderr.write('first words\\nlast words\\n', () => process.exit(7));
    process.send({ share: 0.5 });
    if (arm === 'a' || arm === 'b') process.send({ done: true });
  });
  process.send({ ready: true });`;

function start(code = SPEAKING, nodeOptions: readonly string[] = []): ArmProcess {
  const main = join(folder, 'program.mjs');
  writeFileSync(main, code);
  const places = { cacheFolder: 'c', backend: 'wasm' } as const;
  const program = { nodeOptions, main };
  worker = new ArmProcess({ ...places, program });
  return worker;
}
const ignoreShare = () => {};

test('the command line says where the process computes and what it may keep', () => {
  expect(buildArmOptions({ backend: 'cpu', cacheFolder: 'c' })).toEqual(['--backend', 'cpu', '--cache', 'c']);
});

test('arms are run one after the other, and each reports to the one who asked for it', async () => {
  const process = start();
  expect(process.isReady).toBe(false);
  const shares: [string, number][] = [];
  for (const arm of ['a', 'b'])
    expect(await process.ask({ arm }, (share) => void shares.push([arm, share]))).toBeNull();
  expect(process.isReady).toBe(true);
  expect(shares).toEqual([
    ['a', 0.5],
    ['b', 0.5],
  ]);
});

test('a death is reported with the code and the last output, also when asked again', async () => {
  const process = start();
  const death = await process.ask({ arm: 'exit' }, ignoreShare);
  expect(death).toBeInstanceOf(ProcessDiedError);
  expect(death).toMatchObject({ facts: { code: 7, signal: null }, stack: 'first words\nlast words' });
  expect(await process.ask({ arm: 'a' }, ignoreShare)).toBe(death);
  await process.endGracefully();
});

test('a process that is killed dies of the signal, in the middle of an arm', async () => {
  const process = start();
  await process.ask({ arm: 'a' }, ignoreShare);
  const running = process.ask({ arm: 'sleep' }, ignoreShare);
  process.kill();
  expect(await running).toMatchObject({
    message: 'worker process was killed by SIGKILL; run again with --retry-failed',
    facts: { code: null, signal: 'SIGKILL' },
  });
});

test('a process that is let go ends, also in the middle of an arm, and letting go again is nothing', async () => {
  const process = start();
  await process.ask({ arm: 'a' }, ignoreShare);
  const share = new Promise<number>((resolve) => void process.ask({ arm: 'sleep' }, resolve));
  expect(await share).toBe(0.5);
  await process.endGracefully();
  await process.endGracefully();
});

test('a process whose heap is full dies with the limit and the option that raises it', async () => {
  const process = start(
    `process.send({ ready: true });
    process.on('message', () => { const held = []; for (;;) held.push(new Array(1000).fill(held.length)); });`,
    ['--max-old-space-size=31'],
  );
  const death = await process.ask({ arm: 'hoard' }, ignoreShare);
  expect(process.isReady).toBe(true);
  expect(death?.message).toMatch(
    /^worker process was killed by SIGABRT: FATAL ERROR: .* heap out of memory; the heap limit is \d+ MiB; raise it with NODE_OPTIONS=--max-old-space-size=\d+, or/,
  );
});

test('of a long complaint the end is kept', async () => {
  const process = start(`process.stderr.write('x'.repeat(10_007) + '\\n' + 'y'.repeat(101), () => process.exit(3));`);
  const death = await process.ask({ arm: 'a' }, ignoreShare);
  expect(process.isReady).toBe(false);
  expect(death?.message).toBe(
    `worker process ended with exit code 3: ${'y'.repeat(101)}; run again with --retry-failed`,
  );
  expect(death?.stack).toBe(`${'x'.repeat(4000 - 102)}\n${'y'.repeat(101)}`);
});

/** The last lines of Node about a program that dies. */
function captureComplaint(program: string, ...options: string[]): Promise<string> {
  return new Promise((resolve) => {
    execFile(process.execPath, [...options, '-e', program], (_, __, stderr) => resolve(stderr));
  });
}

test('a heap that overflows is reported', async () => {
  const hoard = 'const held = []; for (;;) held.push(new Array(1000).fill(held.length));';
  const complaint = await captureComplaint(hoard, '--max-old-space-size=31');
  expect(complaint.trim().split('\n').at(-1)).not.toContain('heap');
  expect(findLastWords(complaint)).toMatch(/^FATAL ERROR: .*heap out of memory$/);
  expect(findLastWords(complaint.slice(-4000))).toBe(findLastWords(complaint));
});

test.each([
  ['throw new RangeError("of 7")', 'RangeError: of 7'],
  ['throw new Error("of 7")', 'Error: of 7'],
  ['class OwnError extends Error {}; const fail = () => { throw new OwnError("of 7"); }; fail()', 'Error: of 7'],
  ['Promise.reject(new TypeError("of 7"))', 'TypeError: of 7'],
  ['process.stderr.write("ragpp [STORAGE]: cannot write: /x\\nbye\\n")', 'ragpp [STORAGE]: cannot write: /x'],
  [
    'process.stderr.write("ragpp [CONFIGURATION]: 2 errors in c.yaml; correct and run again:\\n  a: expected 1\\n  b: expected 2\\n")',
    'ragpp [CONFIGURATION]: 2 errors in c.yaml; correct and run again: a: expected 1',
  ],
  ['process.stderr.write("one\\r\\ntwo\\r\\n\\r\\n")', 'two'],
  ['', ''],
])('%s: %s', async (program, words) => {
  expect(findLastWords(await captureComplaint(program))).toBe(words);
});

test('what Slurm says of a task that it ended goes before what the task had said', () => {
  const limit = 'slurmstepd: error: *** JOB 7 ON n1 CANCELLED DUE TO TIME LIMIT ***';
  expect(findLastWords(`ragpp: arm a failed [X]: y\n${limit}\nsrun: done\n`)).toBe(limit);
});

test('a place in code is no reason, though it names an error', () => {
  expect(findLastWords('assertion failed\n    at new ValidationError (errors.ts:7)\n\nNode.js v20.1.0\n')).toBe(
    'assertion failed',
  );
});

test('a full heap is recognised by what V8 writes, another death is not', async () => {
  const hoard = 'const held = []; for (;;) held.push(new Array(1000).fill(held.length));';
  const complaint = await new Promise<string>((resolve) => {
    execFile(process.execPath, ['--max-old-space-size=31', '-e', hoard], (_, __, stderr) => resolve(stderr));
  });
  expect(isOutOfMemory(findLastWords(complaint))).toBe(true);
  expect(isOutOfMemory('Error: no room in memory')).toBe(false);
});

test('the advice names the limit that holds, and an option that doubles it', async () => {
  const code = `
    import { describeMemoryAdvice } from ${JSON.stringify(findBuiltUrl('lab/launch/arm-process'))};
    console.log(describeMemoryAdvice());`;
  const options = ['--max-old-space-size=211', '--max-semi-space-size=1'];
  const written = await new Promise<string>((resolve, reject) => {
    execFile(process.execPath, [...options, '--input-type=module', '-e', code], (error, stdout) =>
      error === null ? resolve(stdout) : reject(error),
    );
  });
  const [, limit, option] =
    /^the heap limit is (\d+) MiB; raise it with NODE_OPTIONS=--max-old-space-size=(\d+), or take fewer queries with --limit-queries\n$/.exec(
      written,
    ) ?? [];
  expect(Number(limit)).toBeGreaterThanOrEqual(211);
  expect(Number(limit)).toBeLessThan(230);
  expect(Number(option)).toBe(2 * Number(limit));
  expect(describeMemoryAdvice()).not.toContain(` ${limit} MiB`);
});
