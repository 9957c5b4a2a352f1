import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { buildSampleConfig, writeSampleJsonl } from '../lab/run/jsonl.fixture.ts';
import { readHookPrompt } from './actions/memory-recall.ts';
import { runRagpp } from './command.harness.ts';
import { startRagpp } from './process.harness.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-memory-recall-'));
afterAll(() => rmSync(root, { recursive: true }));
const folder = join(root, 'notes');
const cache = ['--cache', join(root, 'cache')];
const recall = (input: string, ...words: string[]) =>
  startRagpp(['memory', 'recall', ...words, ...cache], () => {}, { input }).ended;

beforeAll(async () => {
  mkdirSync(join(root, 'data'));
  writeSampleJsonl(join(root, 'data'));
  writeFileSync(join(root, 'config.yaml'), stringify(buildSampleConfig(join(root, 'data'))));
  await runRagpp('memory', 'open', folder, '--config', join(root, 'config.yaml'), '--arm', 'hybrid', ...cache);
  await runRagpp('memory', 'import', folder, join(root, 'data', 'turns.jsonl'), ...cache);
}, 60_000);

test('the context of a prompt is printed, of plain text and of the JSON of a hook, within its budget', async () => {
  const plain = await recall('violin bow bridge', folder, '--deadline', '60000');
  expect([plain.code, plain.stderr]).toEqual([0, '']);
  expect(plain.stdout).toContain('relevant to the query: "violin bow bridge"');
  expect(plain.stdout).toContain('## Relevant Past Interactions');
  const hook = JSON.stringify({ session_id: '7', hook_event_name: 'UserPromptSubmit', prompt: 'violin bow bridge' });
  expect((await recall(hook, folder, '--deadline', '60000')).stdout).toBe(plain.stdout);
  const small = await recall('violin bow bridge', folder, '--deadline', '60000', '--budget', '1');
  expect([small.code, small.stdout, small.stderr]).toEqual([0, '', '']);
}, 120_000);

test.each([
  ['no memory', 'violin', [join(root, 'nothing')], 'folder has no memory'],
  ['a deadline that is over', 'violin', [folder, '--deadline', '1'], 'no answer within 1 ms; raise --deadline'],
  ['no prompt', ' \n', [folder], 'no prompt on standard input; write one to it'],
])(
  'of %s nothing is printed, and the exit code is 0',
  async (_, input, words, reason) => {
    const { code, stdout, stderr } = await recall(input, ...words);
    expect([code, stdout]).toEqual([0, '']);
    expect(stderr).toMatch(/^nothing recalled: .*\n$/);
    expect(stderr).toContain(reason);
  },
  60_000,
);

test('wrong usage has exit code 2', async () => {
  expect((await recall('violin', folder, '--budgets', '1')).code).toBe(2);
});

test.each([
  ['{"prompt": " What now? ", "cwd": "/"}', 'What now?'],
  ['{"prompt": 7}', '{"prompt": 7}'],
  ['{ is a brace', '{ is a brace'],
  [' two\nlines ', 'two\nlines'],
])('the prompt of %j', (input, prompt) => expect(readHookPrompt(input)).toBe(prompt));
