import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, expect, test } from 'vitest';
import { thisProgram } from '../experiment/launch/program.ts';
import { sampleConfig, writeSampleJsonl } from '../experiment/sample-jsonl.ts';
import { eventually, startRagpp } from './sample-process.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-interruption-'));
afterAll(() => rmSync(root, { recursive: true }));

/** A program that listens to the interruption, and to the signals themselves after we do. */
const LISTENING = `
  import { endOnSignals, interruption } from ${JSON.stringify(new URL('./interruption.ts', import.meta.url).href)};
  const say = (what) => process.stdout.write(what + '\\n');
  interruption.addEventListener('abort', () => say('let go'));
  endOnSignals();
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => say('heard ' + signal));
  setTimeout(() => say('not ended'), 20_000);
  say('ready');`;

test.concurrent.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('%s ends the program with %i, after all who listen', async (signal, code) => {
  const options = [...thisProgram().nodeOptions, '--input-type=module', '--eval', LISTENING];
  const child = spawn(process.execPath, options, { stdio: ['ignore', 'pipe', 'pipe'] });
  const written = Promise.all([text(child.stdout), text(child.stderr)]);
  const ended = new Promise((resolve) => child.once('close', (...end) => resolve(end)));
  child.stdout.once('data', () => child.kill(signal));
  expect(await ended).toEqual([code, null]);
  const [stdout, stderr] = await written;
  expect(stdout.split('\n')).toEqual(['ready', 'let go', `heard ${signal}`, '']);
  expect(stderr).toBe(
    '\nragpp: interrupted; what was cached stays: a run goes on from there with --resume, a training when it is started again\n',
  );
});

test.concurrent('SIGTERM in the middle of a run gives its folder back', async () => {
  writeSampleJsonl(root);
  const config = join(root, 'sample.yaml');
  writeFileSync(config, JSON.stringify(sampleConfig(root)));
  const results = join(root, 'results');
  const run = startRagpp(['run', config, '--cache', join(root, 'cache'), '--results', results]);
  const lock = await eventually(() => {
    const [folder = ''] = existsSync(results) ? readdirSync(results) : [];
    const path = join(results, folder, 'lock');
    return existsSync(path) ? path : undefined;
  });
  run.kill('SIGTERM');
  const { code, signal, stderr } = await run.ended;
  expect({ code, signal }, stderr).toEqual({ code: 143, signal: null });
  expect(stderr).toContain('ragpp: interrupted');
  expect(existsSync(lock)).toBe(false);
  expect(lock).toMatch(/\.partial\/lock$/);
});
