import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { findBuiltUrl } from '../../core/built-module.harness.ts';
import { BUSY } from './busy.fixture.ts';

const WATCH = JSON.stringify(findBuiltUrl('lab/launch/own-process'));
const listEvalArgs = (code: string) => ['--input-type=module', '--eval', code];

const CHILD = `
  import { endWithParent } from ${WATCH};
  endWithParent();
  if (process.env.RAGPP_PARENT !== undefined) process.exit(1);
  ${BUSY}`;

const PARENT = `
  import { spawn } from 'node:child_process';
  import { buildChildEnvironment } from ${WATCH};
  const options = ${JSON.stringify(listEvalArgs(CHILD))};
  const stdio = ['ignore', 'inherit', 'inherit'];
  spawn(process.execPath, options, { stdio, env: buildChildEnvironment(), detached: true });`;

test('a process that is busy in synchronous work ends when its parent is killed', async () => {
  const parent = spawn(process.execPath, listEvalArgs(PARENT), { stdio: ['ignore', 'pipe', 'inherit'] });
  const written = text(parent.stdout); // ends when both are gone, since the child has inherited it
  const [line] = await once(parent.stdout, 'data');
  expect(String(line)).toBe('busy\n');
  parent.kill('SIGKILL');
  expect(await written).toBe('busy\n');
});

test('a process without a parent to end with is not watched', async () => {
  const code = `
    import { endWithParent } from ${WATCH};
    endWithParent();
    setTimeout(() => console.log('ended by itself'), 600);`;
  const { RAGPP_PARENT, ...env } = process.env;
  const child = spawn(process.execPath, listEvalArgs(code), { stdio: ['ignore', 'pipe', 'inherit'], env });
  expect(await text(child.stdout)).toBe('ended by itself\n');
});
