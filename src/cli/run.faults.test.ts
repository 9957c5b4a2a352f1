import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { viewAsBytes } from '../core/hash/hash.ts';
import { probeBackends } from '../core/tensors/backend.ts';
import {
  type BlockHeader,
  decodeHeader,
  decodeKeys,
  encodeBlock,
  HASH_BYTES,
  HEADER_BYTES,
  VECTORS,
} from '../index/encoders/segments.ts';
import { buildSampleConfig, writeSampleJsonl } from '../lab/run/jsonl.fixture.ts';
import { runRagpp } from './command.harness.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-faults-'));
afterAll(() => rmSync(root, { recursive: true }));
const data = join(root, 'data');
const config = join(root, 'sample.yaml');
const cache = join(root, 'cache');
const results = join(root, 'results');
const small = ['--set', 'evaluation.limitQueries=7', '--set', 'evaluation.metrics=[mrr@10]'];
const start = (...argv: string[]) => runRagpp('run', config, '--cache', cache, '--results', results, ...small, ...argv);

beforeAll(() => {
  mkdirSync(data);
  writeSampleJsonl(data);
  writeFileSync(config, JSON.stringify(buildSampleConfig(data)));
});
beforeEach(() => {
  for (const folder of [cache, results]) rmSync(folder, { recursive: true, force: true });
});

/** One error and nothing else: on stderr after the stages that were finished, and no file that a later run could meet. */
async function expectError(outcome: ReturnType<typeof runRagpp>, code: number, message: RegExp): Promise<void> {
  const { code: got, stdout, stderr } = await outcome;
  const [error = '', ...others] = stderr.split(/^(?=ragpp \[)/m).filter((part) => part.startsWith('ragpp'));
  expect(error.trimEnd()).toMatch(message);
  expect(others).toEqual([]);
  expect(stderr).not.toMatch(/^ {4}at /m);
  expect({ code: got, stdout }).toEqual({ code, stdout: '' });
  expect(existsSync(results) ? readdirSync(results) : []).toEqual([]);
  const kept = existsSync(cache) ? readdirSync(cache, { recursive: true, encoding: 'utf8' }) : [];
  const whole = /^(embeddings.lsa-[0-9a-f]{16}.\d+\.vectors|stages.[a-z0-9-]+.[0-9a-f]{64}\.safetensors)$/;
  expect(kept.filter((name) => name.includes('.') && !whole.test(name))).toEqual([]);
}

describe('a fault of the configuration exits with 2, before anything is made', () => {
  test.each([
    [
      'an unknown key',
      ['--set', 'evaluation.smaples=7'],
      /^ragpp \[CONFIGURATION\]: 1 error in .*sample\.yaml; correct and run again:\n {2}evaluation\.smaples \(--set\): expected one of .*, got unknown key "smaples"; did you mean samples\?$/,
    ],
    [
      'a wrong type',
      ['--set', 'seed=[1]'],
      /\n {2}seed \(--set\): expected one whole number; .* as seeds: 5, got \[1\]$/,
    ],
    [
      'several',
      ['--set', 'seed=x', '--set', 'evaluation.baseline=hybird', '--set', 'evaluation.metrics=[ndgc@10]'],
      /: 3 errors in [\s\S]*seed \(--set\): expected one whole number[\s\S]*use ndcg@10[\s\S]*got "hybird"; did you mean hybrid\?$/,
    ],
    [
      'an override without =',
      ['--set', 'seed'],
      /^ragpp \[CONFIGURATION\]: 1 error in --set; correct and run again:\n {2}--set: expected path=value, got "seed"$/,
    ],
    [
      'an override of an arm that is none',
      ['--set', 'arms.hybird.set={decay.halfLifeHours: 6}'],
      /\n {2}arms\.hybird: expected an arm of the config \(newest, hybrid, .*\), or a whole arm as the value, got "hybird"; did you mean hybrid\?$/,
    ],
    ['an override that is no YAML', ['--set', 'seed=[1'], /\n {2}seed: expected a YAML value \(.*\), got "\[1"$/],
    [
      'a tuned value out of range',
      ['--set', 'arms.hybrid.tune={fuse.convex.hnsw: [0.5, -2]}'],
      /\n {2}arms\.hybrid\.tune\.fuse\.convex\.hnsw\[1\] \(--set\): expected number >= 0, got -2$/,
    ],
    [
      'a tuned path that leads nowhere',
      ['--set', 'arms.hybrid.tune={newest.k: [1, 2]}'],
      /\n {2}arms\.hybrid\.tune.newest.k \(--set\): expected a path that begins with a step or a source of the arm \(search, fuse, bm25, hnsw\), got "newest\.k"$/,
    ],
  ])('%s', async (_, argv, message) => {
    await expectError(start(...argv), 2, message);
    expect(existsSync(results)).toBe(false);
    expect(existsSync(cache)).toBe(false);
  });

  test.each([
    [
      'a syntax fault',
      'name: x\narms:\n  - {name: y\n  - z\n',
      /1 error in .*broken\.yaml; correct and run again:\n {2}line \d, column \d+: expected valid YAML, got /,
    ],
    ['no config at all', null, /\n {2}\(file\): expected a YAML file, got ENOENT/],
  ])('%s', async (_, text, message) => {
    const broken = join(root, 'broken.yaml');
    rmSync(broken, { force: true });
    if (text !== null) writeFileSync(broken, text);
    await expectError(runRagpp('run', broken, '--cache', cache, '--results', results), 2, message);
  });
});

describe('a fault of the data exits with 1 and names the row', () => {
  const encodeTurn = (id: string, parentId: string | null, text = 'some words') =>
    JSON.stringify({ id, conversationId: 'c0', parentId, timestamp: 1, text });
  test.each([
    [
      'a parent that is missing',
      [encodeTurn('x', 'nobody')],
      /^ragpp \[VALIDATION\]: 1 error in .*; correct and run again, or set onDirtyRow: skip:\n {2}turns\.jsonl:\d+: missing parent: nobody$/,
    ],
    [
      'a cycle',
      [encodeTurn('x', 'y'), encodeTurn('y', 'x')],
      /2 errors[\s\S]*its own ancestor, a cycle: x\n.*its own ancestor, a cycle: y$/,
    ],
    ['an id twice', [encodeTurn('t0-0', null)], /duplicate id: t0-0$/],
    ['an empty text', [encodeTurn('x', null, ' ')], /malformed row: text: expected a text that is not empty, got " "$/],
    ['no JSON', ['{'], /not JSON: a text of length 1$/],
  ])('%s', async (_, rows, message) => {
    const dirty = join(root, 'dirty');
    rmSync(dirty, { recursive: true, force: true });
    mkdirSync(dirty);
    writeSampleJsonl(dirty);
    writeFileSync(
      join(dirty, 'turns.jsonl'),
      `${readFileSync(join(dirty, 'turns.jsonl'), 'utf8')}${rows.join('\n')}\n`,
    );
    await expectError(start('--set', `dataset.path=${dirty}`), 1, message);
  });

  test('no data', async () => {
    await expectError(
      start('--set', 'dataset.path=/nowhere'),
      1,
      /^ragpp \[STORAGE\]: cannot read \(no turns\.jsonl, queries\.jsonl, qrels\.txt\): \/nowhere; /,
    );
  });
});

describe('a damaged cache exits with 1 and says what to delete', () => {
  const listCached = () =>
    readdirSync(join(cache, 'embeddings'), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.vectors'))
      .map((name) => join(cache, 'embeddings', name));
  beforeEach(async () => {
    expect((await start()).code).toBe(0);
    rmSync(results, { recursive: true });
  });

  test('embeddings that are altered', async () => {
    const [path] = listCached() as [string];
    const bytes = readFileSync(path);
    bytes[100] = (bytes[100] as number) ^ 1;
    writeFileSync(path, bytes);
    await expectError(
      start(),
      1,
      /^ragpp \[CHECKSUM_MISMATCH\]: damaged file .*\.vectors: .*; delete the file and run again to embed its texts$/,
    );
    rmSync(path);
    expect((await start()).code).toBe(0);
  });

  test('embeddings that end within a block are completed, which a line says', async () => {
    for (const path of listCached()) truncateSync(path, readFileSync(path).byteLength - 100);
    const { code, stderr } = await start();
    expect(code).toBe(0);
    expect(stderr).toMatch(
      /^embeddings of lsa: \d+ texts embedded; ignored the incomplete block at the end of .*1\.vectors \(/m,
    );
  });

  test('a stage that is cut short fails the arms that need it alone, and --retry-failed runs them', async () => {
    const folder = join(cache, 'stages', 'trajectory');
    const [name] = readdirSync(folder) as [string];
    const path = join(folder, name);
    truncateSync(path, readFileSync(path).byteLength - 5);
    const { code, stderr } = await start();
    const failed = stderr.split('\n').filter((line) => / failed \[/.test(line));
    expect(failed).not.toEqual([]);
    for (const line of failed)
      expect(line).toMatch(
        /^ragpp: arm \S+ failed \[CHECKSUM_MISMATCH\]: damaged file .*trajectory.*safetensors: .*; delete the file and run again, with --retry-failed to resume a run$/,
      );
    expect(stderr).toMatch(
      new RegExp(`^ragpp: ${failed.length} of 5 arms failed; --retry-failed runs them again$`, 'm'),
    );
    expect(code).toBe(1);
    rmSync(path);
    expect((await start('--resume')).code).toBe(1);
    expect((await start('--retry-failed')).code).toBe(0);
  });

  test('embeddings that are no numbers', async () => {
    for (const path of listCached()) {
      const bytes = readFileSync(path);
      const { count, dimension, identity } = decodeHeader(VECTORS, bytes.subarray(0, HEADER_BYTES)) as BlockHeader;
      const keys = decodeKeys(bytes.subarray(HEADER_BYTES, HEADER_BYTES + count * HASH_BYTES));
      const block = encodeBlock(
        VECTORS,
        identity,
        keys,
        dimension,
        viewAsBytes(new Float32Array(count * dimension).fill(Number.NaN)),
      );
      expect(block.byteLength).toBe(bytes.byteLength);
      writeFileSync(path, block);
    }
    await expectError(start(), 1, /^ragpp \[NOT_FINITE\]: vector is not finite at turn \S+: NaN; /);
  });
});

describe('an obstacle exits with 1, before any work', () => {
  test.each([
    ['results', () => ({ results: join(root, 'file') })],
    ['the cache', () => ({ cache: join(root, 'file') })],
    ['a folder below a file', () => ({ results: join(root, 'file', 'below') })],
  ])('a file, where %s should be', async (_, folders) => {
    writeFileSync(join(root, 'file'), 'mine');
    const options = { results, cache, ...folders() };
    const outcome = runRagpp('run', config, '--cache', options.cache, '--results', options.results);
    await expectError(
      outcome,
      1,
      /^ragpp \[STORAGE\]: cannot (?:write to|read) folder \(E\w+: .*\): .*file(\/below)?; check that the path exists and that you may access it$/,
    );
    expect((await outcome).stderr.split('\n')).toHaveLength(2);
    expect(readFileSync(join(root, 'file'), 'utf8')).toBe('mine');
  });

  test('a backend that is not there, with the reason', async () => {
    const absent = probeBackends().find(({ available }) => !available);
    expect(absent).toBeDefined();
    const { name, reason } = absent as { name: string; reason: string };
    const { stderr } = await start('--backend', name);
    expect(stderr).toContain(`ragpp [UNAVAILABLE]: backend ${name} is not available: ${reason}; run ragpp doctor`);
    await expectError(start('--backend', name), 1, /^ragpp \[UNAVAILABLE\]/);
    expect(existsSync(results)).toBe(false);
  });
});
