import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { BACKENDS, probeBackends } from '../core/tensors/backend.ts';
import { runRagpp } from './command.harness.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-doctor-'));
afterAll(() => rmSync(root, { recursive: true }));

const runDoctor = (cache: string, results = join(root, 'none')) =>
  runRagpp('doctor', '--cache', cache, '--results', results);

test('a machine that is ready has a line for each part, and what to do about what it lacks', async () => {
  const { code, stdout } = await runDoctor(join(root, 'none'));
  expect(code).toBe(0);
  expect(stdout).toMatch(/^rag-plusplus \d+\.\d+\.\d+\nnode +ok /);
  expect(stdout).toMatch(/^runtime of the encoder transformers +(ok|optional) +@huggingface\/transformers /m);
  for (const name of BACKENDS) expect(stdout).toMatch(new RegExp(`^backend ${name} +(ok|optional) +\\S+`, 'm'));
  for (const { name, available, reason } of probeBackends())
    if (!available) expect(stdout).toMatch(new RegExp(`^backend ${name} +optional +${reason.slice(0, 20)}`, 'm'));
  const taken = /^backend auto +ok +takes (\S+) \(auto: the first that loads/m.exec(stdout)?.[1];
  expect(stdout).toMatch(new RegExp(`^backend ${taken} +ok `, 'm'));
  expect(stdout).toMatch(/^hnswlib-node +ok /m);
  expect(stdout).toMatch(/^addon of hnsw +(?:ok +\S+|optional +not installed: ragpp backend install hnsw)/m);
  expect(stdout).toMatch(/^dataset spamassassin-threads +ok /m);
  expect(stdout.trimEnd().split('\n').at(-1)).toBe('ready: nothing that is needed is missing');
});

test('looking changes nothing', async () => {
  const { stdout } = await runDoctor(join(root, 'cache'));
  expect(stdout).toMatch(/^cache +ok +.*cache \(made on first use\)$/m);
  expect(readdirSync(root)).toEqual([]);
});

test('a folder that is there is measured', async () => {
  const cache = join(root, 'full');
  mkdirSync(join(cache, 'embeddings'), { recursive: true });
  writeFileSync(join(cache, 'embeddings', 'a'), Buffer.alloc(3 * 2 ** 20));
  writeFileSync(join(cache, 'b'), '');
  expect((await runDoctor(cache)).stdout).toMatch(/^cache +ok +.*full: 2 files, 3\.0 MiB$/m);
});

test('a file in the way of a folder is named, and the exit code is 1', async () => {
  const results = join(root, 'file');
  writeFileSync(results, '');
  const { code, stdout, stderr } = await runDoctor(join(root, 'none'), results);
  expect(code).toBe(1);
  expect(stdout).toMatch(/^results +missing +cannot write to folder .*; make it writable or name another folder$/m);
  expect(stdout.trimEnd().split('\n').at(-1)).toBe('1 needed part(s) missing');
  expect(stderr).toBe('');
});
