import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { findBuiltModule } from '../core/built-module.harness.ts';
import { requirePackages } from '../core/required-packages.harness.ts';
import { buildSampleConfig, writeSampleJsonl } from '../lab/run/jsonl.fixture.ts';
import type { McpClient } from '../memory/service/mcp-client.harness.ts';
import { runRagpp } from './command.harness.ts';
import { startRagpp } from './process.harness.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-serve-mcp-'));
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
    expect.stringContaining('has no arm to answer by; give it one with ragpp memory open'),
  ]);
}, 60_000);
