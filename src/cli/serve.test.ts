import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { findBuiltModule } from '../core/built-module.harness.ts';
import { requirePackages } from '../core/required-packages.harness.ts';
import { buildSampleConfig, writeSampleJsonl } from '../lab/run/jsonl.fixture.ts';
import { connectMemory } from '../memory/client/connect-memory.ts';
import type { McpClient } from '../memory/service/mcp-client.harness.ts';
import { runRagpp } from './command.harness.ts';
import { startRagpp } from './process.harness.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-serve-'));
afterAll(() => rmSync(root, { recursive: true }));
const folder = join(root, 'notes');
const cache = ['--cache', join(root, 'cache')];

beforeAll(async () => {
  mkdirSync(join(root, 'data'));
  writeSampleJsonl(join(root, 'data'));
  writeFileSync(join(root, 'config.yaml'), stringify(buildSampleConfig(join(root, 'data'))));
  await runRagpp('memory', 'open', folder, '--config', join(root, 'config.yaml'), '--arm', 'hybrid', ...cache);
}, 60_000);

/** Starts the program as an agent does, with the official client. */
async function connect(): Promise<McpClient> {
  const { Client } = await import('@modelcontextprotocol/client' as string);
  const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio' as string);
  const client = new Client({ name: 'test', version: '1' }) as McpClient;
  const args = [findBuiltModule('cli/main'), 'serve', folder, '--mcp', ...cache];
  await client.connect(new StdioClientTransport({ command: process.execPath, args, stderr: 'ignore' }));
  return client;
}

requirePackages('MCP').test(
  'a program that is started twice keeps what was remembered',
  async () => {
    const first = await connect();
    const told = { id: 'strip', text: 'the protective strip was still on the drum', conversation: 'printer' };
    const remembered = await first.callTool({ name: 'remember', arguments: told });
    expect(remembered.structuredContent).toEqual({ id: 'strip', sequence: 1 });
    await first.close();
    const second = await connect();
    const question = { question: 'What was on the drum?', k: 1 };
    const { structuredContent } = await second.callTool({ name: 'recall', arguments: question });
    expect(structuredContent).toMatchObject({ records: [{ id: 'strip', text: told.text }], withheld: 0, sequence: 1 });
    await second.close();
  },
  120_000,
);

requirePackages('MCP').testWithout(
  'without the package the command says how to install it',
  async () => {
    const { code, stdout, stderr } = await startRagpp(['serve', folder, '--mcp', ...cache]).ended;
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain(
      'MCP is not available: a package is missing; npm install @modelcontextprotocol/server@2\n',
    );
  },
  60_000,
);

test('a memory without an arm cannot be served', async () => {
  writeFileSync(join(root, 'rows.jsonl'), '{"id":"a","context":"a","createdAt":1,"embedding":[1]}\n');
  await runRagpp('memory', 'import', join(root, 'bare'), join(root, 'rows.jsonl'));
  const { code, stderr } = await startRagpp(['serve', join(root, 'bare'), '--mcp', ...cache]).ended;
  expect([code, stderr]).toEqual([
    1,
    expect.stringContaining('has no arm to answer by; give it one with --config and --arm'),
  ]);
}, 60_000);

describe('over HTTP', () => {
  const config = join(root, 'config.yaml');
  const turns = () =>
    readFileSync(join(root, 'data', 'turns.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map(
        (line) =>
          JSON.parse(line) as { readonly id: string; readonly text: string; readonly timestamp: string | number },
      );

  /** Starts the service. @returns its address once it listens. */
  async function serve(...words: string[]) {
    const ready = join(root, `ready-${words.length}-${performance.now()}`);
    const started = startRagpp(['serve', ...words, '--ready-file', ready, ...cache]);
    for (;;) {
      const address = await Promise.race([readReady(ready), started.ended]);
      if (typeof address !== 'string') throw new Error(address.stderr);
      if (address !== '') return { started, address };
    }
  }

  async function readReady(path: string): Promise<string> {
    await new Promise((resolve) => setTimeout(resolve, 50));
    return existsSync(path) ? readFileSync(path, 'utf8').trim() : '';
  }

  test('what is added is there after the service was ended by SIGTERM and started again', async () => {
    const folder = join(root, 'served');
    const first = await serve(folder, '--config', config, '--arm', 'hybrid');
    const client = connectMemory(first.address);
    const records = turns().map(({ id, text, timestamp }) => ({
      id,
      context: text,
      createdAt: new Date(timestamp).getTime(),
    }));
    const { sequence, hash } = await client.addBatch(records);
    const { ranking } = await client.ask({ text: 'violin bow bridge' });
    expect(ranking.length).toBeGreaterThan(3);
    client.close();
    const recalled = await startRagpp(['memory', 'recall', first.address], () => {}, { input: 'violin bow bridge' })
      .ended;
    expect([recalled.code, recalled.stderr]).toEqual([0, '']);
    expect(recalled.stdout).toContain('relevant to the query: "violin bow bridge"');
    first.started.kill('SIGTERM');
    const end = await first.started.ended;
    expect([end.code, end.signal, end.stdout.split('\n').at(-2)]).toEqual([
      0,
      null,
      `memory listens on ${first.address}`,
    ]);
    const second = await serve(folder);
    const again = connectMemory(second.address);
    expect(await again.addBatch(records)).toMatchObject({ known: records.map(({ id }) => id), sequence, hash });
    expect((await again.ask({ text: 'violin bow bridge' })).ranking).toEqual(ranking);
    again.close();
    second.started.kill('SIGINT');
    expect((await second.started.ended).code).toBe(0);
    const late = await startRagpp(['memory', 'recall', second.address], () => {}, { input: 'violin' }).ended;
    expect([late.code, late.stdout, late.stderr]).toEqual([0, '', expect.stringContaining('start it: ragpp serve')]);
  }, 120_000);

  test('the answers are the run of the arm, byte for byte', async () => {
    const words = ['memory', 'replay', config, '--arm', 'Decayed × 2', '--http', ...cache];
    const { code, stdout } = await runRagpp(...words);
    expect([code, stdout.split('\n').at(-2)]).toEqual([0, 'the run files of memory and run are equal, byte for byte']);
  }, 60_000);

  test.each([
    ['another machine without a token', ['--host', '0.0.0.0'], '--token-variable: expected a variable with a token'],
    ['an empty token', ['--token-variable', 'RAGPP_TEST_NO_TOKEN'], 'expected a token in RAGPP_TEST_NO_TOKEN'],
    ['an arm without its config', ['--arm', 'hybrid'], '--config: expected the config of --arm'],
    ['a config without an arm', ['--config', config], '--arm: expected an arm of --config'],
    ['a config over standard input', ['--mcp', '--config', config, '--arm', 'hybrid'], 'none beside --mcp stdio'],
  ])('is refused: %s', async (_, words, message) => {
    const { code, stderr } = await startRagpp(['serve', folder, ...words, ...cache]).ended;
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  });
});
