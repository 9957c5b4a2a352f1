import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { ConfigurationError } from '../../core/errors/errors.ts';
import { computeHash } from '../../core/hash/hash.ts';
import type { Plain } from '../composition/config-file.ts';
import { loadConfig, resolveConfig } from './config.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-run-references-'));
afterAll(() => rmSync(root, { recursive: true }));
mkdirSync(join(root, 'runs'));
const content = 'q1 Q0 t1 1 2 theirs\n';
const file = join(root, 'runs', 'theirs.trec');
writeFileSync(file, content);

const newest = [{ search: { newest: {} } }];

function buildConfig(arms: Plain): Plain {
  return {
    name: 'external',
    dataset: { name: 'spamassassin-threads' },
    embedding: { encoder: 'lsa' },
    evaluation: { baseline: 'newest', metrics: ['mrr@10'] },
    arms: { newest, ...arms },
  };
}

const theirs = (run: object) => [{ search: { run } }];
/** The sources of each arm by their names. */
const resolve = (arms: Plain) =>
  resolveConfig(buildConfig(arms), 'test').arms.map(({ search }: Plain) => search as Plain);
const source = { index: 'run', path: file, k: 1000, hash: computeHash(Buffer.from(content)) };

describe('a run file as a source', () => {
  test('is found, with the hash of its content', () => {
    expect(resolve({ theirs: theirs({ file }) })[1]).toEqual({ run: source });
    expect(resolve({ theirs: theirs({ file, k: 7 }) })[1]).toEqual({ run: { ...source, k: 7 } });
    expect(resolve({ theirs: theirs({ path: file }) })[1]).toEqual({ run: source });
  });

  test('may have another name, beside other sources', () => {
    const sources = { newest: {}, first: { index: 'run', file }, second: { index: 'run', file, k: 3 } };
    const found = resolve({ both: [{ search: sources }, { fuse: { only: 'first' } }] })[1];
    expect(found).toMatchObject({ newest: { index: 'newest' }, first: source, second: { ...source, k: 3 } });
  });

  test('is passed on, until an arm leaves it out', () => {
    const arms = resolve({
      theirs: theirs({ file }),
      decayed: { from: 'theirs', then: [{ decay: {} }] },
      both: { from: 'theirs', then: [{ 'search+': { newest: {} } }, { fuse: { only: 'run' } }] },
      other: { from: 'both', set: { run: null, fuse: null } },
    });
    expect(arms[2]).toEqual({ run: source });
    expect(Object.keys(arms[3] as Plain)).toEqual(['run', 'newest']);
    expect(Object.keys(arms[4] as Plain)).toEqual(['newest']);
  });

  test('is looked for beside the config, and a resolved config resolves to itself', () => {
    const path = join(root, 'external.yaml');
    writeFileSync(path, JSON.stringify(buildConfig({ theirs: theirs({ file: 'runs/theirs.trec' }) })));
    const config = loadConfig(path);
    expect(config.arms[1]).toMatchObject({ search: { run: source } });
    expect(resolveConfig(structuredClone(config) as unknown as Plain, 'again')).toEqual(config);
  });

  test('is looked for beside the file that names it, whichever part of the arm other files wrote', () => {
    const inner = buildConfig({ theirs: theirs({ file: 'theirs.trec' }) });
    writeFileSync(join(root, 'runs', 'inner.yaml'), JSON.stringify(inner));
    const outer = join(root, 'outer.yaml');
    writeFileSync(outer, JSON.stringify({ extends: 'runs/inner.yaml', arms: { theirs: { set: { 'run.k': 5 } } } }));
    expect(loadConfig(outer).arms[1]).toMatchObject({ search: { run: { ...source, k: 5 } } });
    const changed = { theirs: { set: { 'run.file': 'runs/theirs.trec' } } };
    writeFileSync(outer, JSON.stringify({ extends: 'runs/inner.yaml', arms: changed }));
    expect(loadConfig(outer).arms[1]).toMatchObject({ search: { run: source } });
  });

  test.each([
    [
      theirs({ file: 'none.trec' }),
      /arms\.theirs\[0\]\.search\.run\.file: expected a run file \(.*none\.trec.*\), got "none\.trec"/,
    ],
    [theirs({ path: 'none.trec' }), /arms\.theirs\[0\]\.search\.run\.path: expected a run file \(.*none\.trec/],
    [theirs({}), /arms\.theirs\[0\]\.search\.run\.path: expected string, got nothing/],
    [
      theirs({ file, kk: 3 }),
      /arms\.theirs\[0\]\.search\.run\.kk: expected one of .*, got unknown key "kk"; did you mean k\?/,
    ],
    [
      [{ search: { newest: {} } }, { fuse: { only: 'run' } }],
      /fuse\.only: expected a column of the arm \(newest\), got "run"/,
    ],
  ])('%j is refused', (steps, message) => {
    expect(() => resolve({ theirs: steps })).toThrow(message);
  });
});

describe('the file of concepts of a source', () => {
  const concepts = join(root, 'runs', 'concepts.jsonl');
  writeFileSync(concepts, 'any');
  const graph = { concepts: { file: 'runs/concepts.jsonl' } };
  const arm = (more: object) => [{ search: { newest: {}, graph: { ...graph, ...more } } }, { fuse: { only: 'graph' } }];

  test('is looked for beside the config, and is resolved with the hash of its content', () => {
    const path = join(root, 'concepts.yaml');
    writeFileSync(path, JSON.stringify(buildConfig({ graph: arm({}) })));
    const config = loadConfig(path);
    expect(config.arms[1]).toMatchObject({
      search: { graph: { concepts: { file: concepts, hash: computeHash(Buffer.from('any')) } } },
    });
    expect(resolveConfig(structuredClone(config) as unknown as Plain, 'again')).toEqual(config);
  });

  test.each([
    [
      {},
      /arms\.graph\[0\]\.search\.graph\.concepts\.file: expected a file of concepts \(.*got "runs\/concepts\.jsonl"/,
    ],
    [{ concepts: { path: 'x' } }, /arms\.graph\[0\]\.search\.graph\.concepts/],
    [
      { concepts: 'names', edges: { relation: 1 } },
      /arms\.graph\[0\]\.search\.graph\.edges\.relation: expected 0 without triples; set/,
    ],
  ])('%j is refused', (given, message) => {
    expect(() => resolve({ graph: arm(given) })).toThrow(message);
  });
});

const folder = mkdtempSync(join(tmpdir(), 'policies-'));
afterAll(() => rmSync(folder, { recursive: true }));
mkdirSync(join(folder, 'policies'));
writeFileSync(join(folder, 'policies', 'near.yaml'), 'id: near\nmaxNodes: 7\n');

const search = { bm25: { k: 5 } };
const KEY = '0f'.repeat(32);

/** The slices of two arms, the second starts from the first one. */
function loadSlices(slice: object, more: object = {}) {
  const path = join(folder, 'config.yaml');
  const arms = { first: { steps: [{ slice }, { search }], ...more }, second: { from: 'first' } };
  const evaluation = { baseline: 'first', metrics: ['mrr@10'] };
  const shared = { name: 'sliced', dataset: { name: 'synthetic' }, embedding: { encoder: 'lsa' }, evaluation };
  writeFileSync(path, JSON.stringify({ ...shared, arms }));
  return loadConfig(path).arms.map((arm) => arm.slice);
}

test('a policy is a mapping or a file beside the config; a resolved config has its content, with defaults', () => {
  const [own, extended] = loadSlices({ policy: 'policies/near.yaml' });
  expect(own).toMatchObject({ kernel: 'local', policy: { id: 'near', version: 1, maxNodes: 7, unanchored: 'refuse' } });
  expect(extended).toEqual(own);
  expect(loadSlices({ policy: { id: 'near', maxNodes: 7 } })).toEqual([own, own]);
  const changed = { set: { 'slice.policy': 'policies/near.yaml' } };
  expect(loadSlices({ policy: { id: 'far' } }, changed)).toEqual([own, own]);
  const remote = { policy: 'policies/near.yaml', kernel: 'http://127.0.0.1:7' };
  expect(loadSlices({ ...remote, publicKey: KEY })[0]?.publicKey).toEqual([KEY]);
});

test.each<[object, RegExp, object?]>([
  [
    { policy: 'policies/far.yaml' },
    /first\.steps\[0\]\.slice\.policy.*a policy or a file with one, relative to.*far\.yaml/s,
  ],
  [{ policy: { id: 'near', maxNode: 7 } }, /first\.steps\[0\]\.slice\.policy\.maxNode.*maxNodes/s],
  [{ policy: { id: 'near', hierarchy: {} } }, /slice\.policy\.hierarchy: expected null: an arm asks for one/],
  [{ policy: { id: 'near' }, kernel: 'http://x' }, /slice\.publicKey: expected the public key of the kernel/],
  [{ policy: { id: 'near' }, publicKey: KEY }, /slice\.publicKey: expected nothing with kernel: local/],
  [{ policy: { id: 'near' } }, /write an arm for each policy/, { tune: { 'slice.policy.maxNodes': [7, 9] } }],
])('what is wrong with a slice is an error with its place: %j', (slice, message, more = {}) => {
  expect(() => loadSlices(slice, more)).toThrow(ConfigurationError);
  expect(() => loadSlices(slice, more)).toThrow(message);
});
