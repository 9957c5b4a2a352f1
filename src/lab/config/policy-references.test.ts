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
