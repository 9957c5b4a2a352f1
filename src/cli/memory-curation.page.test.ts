import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { findBuiltUrl } from '../core/built-module.harness.ts';
import { EmbeddingService } from '../core/service/embedding-service.harness.ts';
import { runRagpp } from './command.harness.ts';

const page = readFileSync(new URL('../../docs/curation.md', import.meta.url), 'utf8');
const SERVICE = 'http://localhost:11434/v1';
const root = mkdtempSync(join(tmpdir(), 'ragpp-curation-page-'));
const service = EmbeddingService.useInTests();
afterAll(() => rmSync(root, { recursive: true }));
beforeEach(() => {
  const content = '{"operation": "noop", "number": 1, "reason": "the same"}';
  service.answer = () => ({ status: 200, body: { choices: [{ message: { content } }], usage: { total_tokens: 7 } } });
});

/** The blocks of a section in a language, with the service of the test. */
const listBlocks = (section: string, language: string) =>
  Array.from(
    (page.split(`## ${section}\n`)[1]?.split('\n## ')[0] ?? '').matchAll(
      new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\`$`, 'gm'),
    ),
    ([, code]) => (code as string).replaceAll(SERVICE, service.baseUrl),
  );

test('the program of a service curates by it', async () => {
  const [program] = listBlocks('By a language model', 'ts');
  const used = `
for (const id of ['a', 'b']) await curator.curate({ id, context: id, embedding: Float32Array.of(1, 0), createdAt: 0 });
console.log(memory.size, describeUse());
await curator.close();
await memory.close();`;
  const runnable = `${program}${used}`
    .replace("'rag-plusplus/memory'", JSON.stringify(findBuiltUrl('memory/index')))
    .replace(/'(memory|curation-log)'/g, (_, name) => JSON.stringify(join(root, name)));
  const words = ['--input-type=module', '-e', runnable];
  expect((await promisify(execFile)(process.execPath, words)).stdout).toBe('1 1 requests, 7 tokens\n');
});

test('the commands run one after the other', async () => {
  const write = (name: string, id: string) =>
    writeFileSync(join(root, name), JSON.stringify({ id, context: 'tea', embedding: [1, 0], createdAt: 0 }));
  write('today.jsonl', 'a');
  write('first.jsonl', 'b');
  await runRagpp('memory', 'import', join(root, 'notes'), join(root, 'first.jsonl'));
  const lines = listBlocks('On the command line', 'bash').join('').trim().split('\n');
  const printed: string[] = [];
  for (const line of lines) {
    const words = line.split(' ').map((word) => (/^(notes|today\.jsonl)$/.test(word) ? join(root, word) : word));
    const { code, stdout, stderr } = await runRagpp(...words.slice(1));
    expect(code, stderr).toBe(0);
    printed.push(/^undone: .*|(?<= {2})(same words|the same)$/m.exec(stdout)?.[0] ?? stdout);
  }
  expect(printed).toEqual(['same words', 'the same', 'undone: 2 of 2 decisions', 'undone: 0 of 0 decisions']);
});
