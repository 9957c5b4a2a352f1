import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { ConfigurationError } from '../../core/errors/errors.ts';
import { loadConfig } from './config.ts';

const folder = mkdtempSync(join(tmpdir(), 'policies-'));
afterAll(() => rmSync(folder, { recursive: true }));
mkdirSync(join(folder, 'policies'));
writeFileSync(join(folder, 'policies', 'near.yaml'), 'id: near\nmaxNodes: 7\n');

const bm25 = { candidates: [{ index: 'bm25', k: 5 }], relevance: { signals: ['bm25'] } };
const KEY = '0f'.repeat(32);

/** The slices of two arms, the second of which extends the first one. */
function loadSlices(first: object, more: object = {}) {
  const path = join(folder, 'config.yaml');
  const arms = [
    { name: 'first', ...bm25, ...first },
    { name: 'second', extends: 'first' },
  ];
  const evaluation = { baseline: 'first', metrics: ['mrr@10'] };
  const shared = { name: 'sliced', dataset: { name: 'synthetic' }, embedding: { encoder: 'lsa' }, evaluation };
  writeFileSync(path, JSON.stringify({ ...shared, arms, ...more }));
  return loadConfig(path).arms.map(({ slice }) => slice);
}

test('a policy is a mapping or a file beside the config; a resolved config has its content, with defaults', () => {
  const [own, extended] = loadSlices({ slice: { policy: 'policies/near.yaml' } });
  expect(own).toMatchObject({ kernel: 'local', policy: { id: 'near', version: 1, maxNodes: 7, unanchored: 'refuse' } });
  expect(extended).toEqual(own);
  expect(loadSlices({ slice: { policy: { id: 'near', maxNodes: 7 } } })).toEqual([own, own]);
  expect(loadSlices({}, { base: { slice: { policy: 'policies/near.yaml' } } })).toEqual([own, own]);
  const remote = { policy: 'policies/near.yaml', kernel: 'http://127.0.0.1:7' };
  expect(loadSlices({ slice: { ...remote, publicKey: KEY } })[0]?.publicKey).toEqual([KEY]);
});

test.each<[object, RegExp]>([
  [{ slice: { policy: 'policies/far.yaml' } }, /slice\.policy.*a policy or a file with one, relative to.*far\.yaml/s],
  [{ slice: { policy: { id: 'near', maxNode: 7 } } }, /slice\.policy\.maxNode.*maxNodes/s],
  [
    { slice: { policy: { id: 'near', hierarchy: {} } } },
    /slice\.policy\.hierarchy: expected null: an arm asks for one/,
  ],
  [
    { slice: { policy: { id: 'near' }, kernel: 'http://x' } },
    /slice\.publicKey: expected the public key of the kernel/,
  ],
  [{ slice: { policy: { id: 'near' }, publicKey: KEY } }, /slice\.publicKey: expected nothing with kernel: local/],
  [{ slice: { policy: { id: 'near' } }, tune: { 'slice.policy.maxNodes': [7, 9] } }, /write an arm for each policy/],
])('what is wrong with a slice is an error with its place: %j', (arm, message) => {
  expect(() => loadSlices(arm)).toThrow(ConfigurationError);
  expect(() => loadSlices(arm)).toThrow(message);
});
