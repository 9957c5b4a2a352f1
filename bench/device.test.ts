import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs-core';
import { afterAll, expect, test } from 'vitest';
import { PROJECT_ROOT } from '../src/core/code/package-root.ts';
import { useBackend } from '../src/core/tensors/backend.ts';
import { runBenchCommand } from './command.harness.ts';
import { type DeviceReport, formatDeviceTable, measureDevice, parseDeviceSize } from './device.ts';
import { listDeviceWorkloads } from './device-workloads.ts';

const folder = mkdtempSync(join(tmpdir(), 'ragpp-device-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('each workload agrees with cpu, launches kernels and reaches a share of the rates, and leaves no tensor', async () => {
  await useBackend('wasm');
  const before = tf.memory().numTensors;
  const report = await measureDevice({ backend: 'wasm', size: 'tiny', rounds: 1, seed: 7 });
  expect(tf.memory().numTensors).toBe(before);
  expect(report.matmulRate).toBeGreaterThan(0);
  expect(report.memoryRate).toBeGreaterThan(0);
  expect(report.rows).toHaveLength(10);
  for (const row of report.rows) {
    expect(row.difference, row.workload).toBeLessThan(1e-4);
    expect(row.relativeDifference, row.workload).toBeLessThan(1e-4);
    const counts = [row.launches, row.operations, row.bytes, row.matmulShare, row.memoryShare];
    // On wasm a rerank is loops of the host.
    if (row.workload.startsWith('rerank')) expect(counts, row.workload).toEqual([0, 0, 0, 0, 0]);
    else expect(Math.min(...counts), row.workload).toBeGreaterThan(0);
    expect(row.seconds, row.workload).toBeGreaterThan(0);
    expect(formatDeviceTable(report)).toContain(row.workload);
  }
  // On wasm a kernel of the project has the products of attention: 2 layers, 22 rows in texts of 11, 48 and 96 numbers.
  const products = 2 * (2 * 22 * (3 * 48 * 48 + 48 * 48 + 2 * 48 * 96) + 2 * 2 * 22 * 11 * 48);
  const { operations } = report.rows.find(({ workload }) => workload === 'bert, forward, 2 texts')!;
  expect(operations / products).toBeGreaterThan(1);
  expect(operations / products).toBeLessThan(1.1);
});

test('the table replaces what a document has of its backend; seed 0 is a seed', async () => {
  const [document, json] = [join(folder, 'page.md'), join(folder, 'table.json')];
  writeFileSync(
    document,
    'a\n<!-- device/cpu -->\nold\n<!-- end of table -->\nb\n<!-- device/wasm -->\n<!-- end of table -->\n',
  );
  const options = ['--backend', 'cpu', '--size', 'tiny', '--rounds', '1', '--seed', '0'];
  const { status, output } = await runBenchCommand('device', ...options, '--json', json, '--document', document);
  expect(status).toBe(0);
  const { rows, ...report } = JSON.parse(readFileSync(json, 'utf8')) as DeviceReport;
  expect(report).toMatchObject({ backend: 'cpu', seed: 0, environment: { node: process.version, seed: 0 } });
  const text = readFileSync(document, 'utf8');
  expect(text).toMatch(
    /^a\n<!-- device\/cpu -->\n\n`npm run -s bench -- device --backend cpu .* --seed 0 .*`:\nbackend cpu, the processor; size tiny, compared with cpu at tiny, seed 0, the fastest of 1;\nmatmul \S+ GFLOP\/s, memory \S+ GB\/s; .+, \d+ cores, node v\S+, commit \S+\.\n\n\| workload/,
  );
  expect(text).toMatch(/\|\n\n<!-- end of table -->\nb\n<!-- device\/wasm -->\n<!-- end of table -->\n$/);
  for (const { workload, difference, relativeDifference } of rows) {
    expect([difference, relativeDifference], workload).toEqual([0, 0]); // the same numbers are drawn twice
    expect(text).toContain(`| ${workload} `);
    expect(output).toContain(workload);
  }
});

test('a document without a place for the backend is an error before any work', async () => {
  const document = join(folder, 'empty.md');
  writeFileSync(document, '<!-- device/cpu -->\n<!-- end of table -->\n');
  expect(await runBenchCommand('device', '--backend', 'wasm', '--document', document)).toEqual({
    status: 2,
    output: '',
    errors:
      'document has no block for table device/wasm; add the lines <!-- device/wasm --> and <!-- end of table -->\n',
  });
});

test('each table of the documentation has all workloads of its size, of a commit', () => {
  const page = readFileSync(join(PROJECT_ROOT, 'docs/performance.md'), 'utf8');
  const tables = [...page.matchAll(/<!-- device\/(\w+) -->(.*?)<!-- end of table -->/gs)];
  expect(tables.map(([, backend]) => backend).sort()).toEqual(['cuda', 'node', 'wasm', 'webgpu']);
  for (const [, backend, text] of tables as unknown as [string, string, string][]) {
    const [, size, seed, commit] =
      /--backend (?:\w+) .*\nbackend \w+, .+; size (\w+), .* seed (\d+), .*\n.* commit ([0-9a-f]{12})\.\n/.exec(text) ??
      [];
    expect(text).toContain(`\nbackend ${backend}, `);
    expect(commit, backend).toBeDefined();
    const rows = text.split('\n').filter((line) => line.startsWith('| '));
    const names = listDeviceWorkloads(parseDeviceSize(size as string), Number(seed)).map(({ name }) => name);
    expect(rows.slice(2).map((row) => row.split('|')[1]?.trim())).toEqual(names);
    for (const row of rows.slice(2))
      for (const cell of row.split('|').slice(2, -1)) expect(Number.parseFloat(cell), row).toBeGreaterThanOrEqual(0);
  }
});

test.each([
  ['--size', 'huge', 'unknown --size: huge; use one of tiny, small, large'],
  ['--seed', '-1', '--seed is not an integer: -1; give one from 0'],
])('an unknown value of %s is an error', async (option, value, message) => {
  expect(await runBenchCommand('device', `${option}=${value}`)).toEqual({
    status: 2,
    output: '',
    errors: `${message}\n`,
  });
});
