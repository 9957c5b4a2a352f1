import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { ChecksumMismatchError } from '../../core/errors/errors.ts';
import { writeSafetensors } from '../../core/files/safetensors.ts';
import { resolveConfig } from '../config/config.ts';
import { type ArmRecord, readArmRecord, recordPath, writeArmRecord } from './arm-record.ts';

const folder = mkdtempSync(join(tmpdir(), 'ragpp-record-'));
afterAll(() => rmSync(folder, { recursive: true }));

const { arms } = resolveConfig(
  {
    name: 'record',
    dataset: { name: 'spamassassin-threads' },
    embedding: { encoder: 'lsa' },
    evaluation: { baseline: 'a × b' },
    arms: { 'a × b': [{ search: { bm25: {} } }, { decay: {} }] },
  },
  'test',
);
/** 3 queries, 5 places, 2 of them with their 7 parts. */
const record: ArmRecord = {
  name: 'a × b',
  options: arms[0]!,
  tuned: { 'decay.halfLifeHours': 24 },
  depth: 5,
  positions: Int32Array.from({ length: 15 }, (_, i) => (i % 5 === 4 ? -1 : i * 1_000_003)),
  scores: Float32Array.from({ length: 15 }, (_, i) => (i % 5 === 4 ? 0 : 1 / (i + 1))),
  componentNames: ['p', 'q', 'r', 's', 't', 'u', 'v'],
  components: Float32Array.from({ length: 42 }, (_, i) => Math.sqrt(i)),
  inspected: 2,
  losses: Uint8Array.of(0, 3, 1),
  stages: { pool: { executed: 1, memory: 2, disk: 0, launches: 7, bytesRead: 28, seconds: 0.5, garbageSeconds: 0.1 } },
  seconds: 0.25,
  armsAtOnce: 3,
  latency: { pool: { p50: 0.5, p95: 1.25, p99: 2.5 } },
};

test('a record comes back as it was written', () => {
  const path = recordPath(folder, record.name);
  expect(path).toBe(join(folder, 'arms', 'a-b.safetensors'));
  writeArmRecord(path, record);
  expect(readArmRecord(path)).toEqual(record);
});

test('contributions and coordinates of the first ranks come back; a record may lack them', () => {
  const path = recordPath(folder, 'inspected');
  const inspected = {
    ...record,
    contributionNames: ['relevance', 'decay'],
    contributions: Float32Array.from({ length: 3 * 2 * 2 }, (_, i) => i),
    coordinateNames: ['depth', 'temporal', 'homogeneity'],
    coordinates: Float32Array.from({ length: 3 * 2 * 2 * 3 }, (_, i) => 1 / (i + 1)),
    strategyWeights: [0.1, 0.3, 0.7].map((weight) => [weight, 0, 0, 0, 1 - weight]),
  };
  writeArmRecord(path, inspected);
  expect(readArmRecord(path)).toEqual(inspected);
  const unplaced = { ...inspected, coordinateNames: [], coordinates: new Float32Array(0) };
  writeArmRecord(path, unplaced);
  expect(readArmRecord(path)).toEqual(unplaced);
});

test('a record that was cut short or changed says how its arm runs again', () => {
  const path = recordPath(folder, 'cut');
  writeArmRecord(path, record);
  const bytes = readFileSync(path);
  for (const damaged of [bytes.subarray(0, -3), bytes.map((byte, i) => (i === bytes.length - 1 ? byte ^ 1 : byte))]) {
    writeFileSync(path, damaged);
    expect(() => readArmRecord(path)).toThrow(ChecksumMismatchError);
    expect(() => readArmRecord(path)).toThrow(/cut\.safetensors: .*; run again with --resume to run its arm again$/);
  }
});

test.each<[string, object, RegExp]>([
  ['an older record', { armsAtOnce: undefined }, /\(armsAtOnce: expected number, got nothing\)/],
  ['a record of another time', { rounds: 2 }, /\(rounds: expected one of name, .*, got unknown key "rounds"\)/],
  [
    'options that are none',
    { options: { name: 'x', steps: ['decay'], decay: {} } },
    /\(options\.decay: expected after a step that gives scores/,
  ],
])('%s is no record', (_, change, message) => {
  const path = recordPath(folder, 'older');
  writeArmRecord(path, { ...record, ...change } as ArmRecord);
  expect(() => readArmRecord(path)).toThrow(ChecksumMismatchError);
  expect(() => readArmRecord(path)).toThrow(message);
});

test('a file of other arrays is no record', () => {
  const path = recordPath(folder, 'other');
  const rows = { shape: [1, 2], data: Float32Array.of(1, 2) };
  writeSafetensors(path, { tensors: { positions: rows, scores: rows }, metadata: { arm: '{}' } });
  expect(() => readArmRecord(path)).toThrow(/not the record of an arm/);
});
