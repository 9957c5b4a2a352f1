import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import { ProcessDiedError } from '../../core/errors/errors.ts';
import { ArmProcess, buildArmArguments } from './arm-process.ts';

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
  const places = { folder, cacheFolder: 'c', backend: 'wasm' } as const;
  const program = { nodeOptions, main };
  worker = new ArmProcess({ ...places, program });
  return worker;
}
const ignoreShare = () => {};

test('the command line says which run, where it computes and what it may keep', () => {
  const job = { folder: 'f', backend: 'cpu', cacheFolder: 'c' } as const;
  expect(buildArmArguments(job)).toEqual(['arm', 'f', '--backend', 'cpu', '--cache', 'c']);
});

test('arms are run one after the other, and each reports to the one who asked for it', async () => {
  const process = start();
  expect(process.isReady).toBe(false);
  const shares: [string, number][] = [];
  for (const arm of ['a', 'b']) expect(await process.run(arm, (share) => void shares.push([arm, share]))).toBeNull();
  expect(process.isReady).toBe(true);
  expect(shares).toEqual([
    ['a', 0.5],
    ['b', 0.5],
  ]);
});

test('a death is reported with the code and the last output, also when asked again', async () => {
  const process = start();
  const death = await process.run('exit', ignoreShare);
  expect(death).toBeInstanceOf(ProcessDiedError);
  expect(death).toMatchObject({ facts: { code: 7, signal: null }, stack: 'first words\nlast words' });
  expect(await process.run('a', ignoreShare)).toBe(death);
  await process.endGracefully();
});

test('a process that is killed dies of the signal, in the middle of an arm', async () => {
  const process = start();
  await process.run('a', ignoreShare);
  const running = process.run('sleep', ignoreShare);
  process.kill();
  expect(await running).toMatchObject({
    message: 'worker process was killed by SIGKILL; run again with --retry-failed',
    facts: { code: null, signal: 'SIGKILL' },
  });
});

test('a process that is let go ends, also in the middle of an arm, and letting go again is nothing', async () => {
  const process = start();
  await process.run('a', ignoreShare);
  const share = new Promise<number>((resolve) => void process.run('sleep', resolve));
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
  const death = await process.run('hoard', ignoreShare);
  expect(process.isReady).toBe(true);
  expect(death?.message).toMatch(
    /^worker process was killed by SIGABRT: FATAL ERROR: .* heap out of memory; the heap limit is \d+ MiB; raise it with NODE_OPTIONS=--max-old-space-size=\d+, or/,
  );
});

test('of a long complaint the end is kept', async () => {
  const process = start(`process.stderr.write('x'.repeat(10_007) + '\\n' + 'y'.repeat(101), () => process.exit(3));`);
  const death = await process.run('a', ignoreShare);
  expect(process.isReady).toBe(false);
  expect(death?.message).toBe(
    `worker process ended with exit code 3: ${'y'.repeat(101)}; run again with --retry-failed`,
  );
  expect(death?.stack).toBe(`${'x'.repeat(4000 - 102)}\n${'y'.repeat(101)}`);
});
