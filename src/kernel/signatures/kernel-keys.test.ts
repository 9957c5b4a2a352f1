import { describe, expect, test } from 'vitest';
import { ValidationError } from '../../core/errors/errors.ts';
import { assertKeyRing, computeKeyId, derivePublicKey, generateKey, rotateKeys } from './kernel-keys.ts';
import { readPublicKey } from './public-key.ts';

test('a key has the id of its public key, and no two keys are equal', () => {
  const keys = [generateKey(), generateKey()];
  for (const { keyId, privateKey, secret } of keys) {
    const publicKey = derivePublicKey(privateKey);
    expect(computeKeyId(publicKey)).toBe(keyId);
    expect(readPublicKey(publicKey).asymmetricKeyType).toBe('ed25519');
    expect([publicKey, secret].map((digits) => digits.length)).toEqual([64, 64]);
  }
  expect(new Set(keys.flatMap(({ keyId, secret }) => [keyId, secret])).size).toBe(4);
});

test('a rotation signs with a new key, verifies with the one before, and retires the one before that', () => {
  const rings = [{ keys: [generateKey()] }];
  for (let i = 0; i < 3; i++) rings.push(rotateKeys(rings[i] as (typeof rings)[number]));
  const states = rings.map(({ keys }) => keys.map(({ state }) => state).join());
  expect(states).toEqual([
    'signing',
    'signing,verifying',
    'signing,verifying,retired',
    'signing,verifying,retired,retired',
  ]);
  expect(rings[3]?.keys[3]?.keyId).toBe(rings[0]?.keys[0]?.keyId);
});

describe('a ring is refused', () => {
  const [a, b] = [generateKey(), generateKey()];
  test.each([
    ['without a key that signs', [{ ...a, state: 'verifying' as const }], 'one key signs: 0 of 1 do'],
    ['with two keys that sign', [a, b], 'one key signs: 2 of 2 do'],
    [
      'with the id of another key',
      [{ ...a, keyId: b.keyId }],
      `key has another id than its public key gives: ${b.keyId}`,
    ],
    ['with one key twice', [a, { ...a, state: 'verifying' as const }], 'two keys have one id'],
  ])('%s, without a word of a secret', (_, keys, message) => {
    let error: unknown;
    try {
      assertKeyRing({ keys });
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(ValidationError);
    expect((error as Error).message).toContain(message);
    expect(JSON.stringify(error) + (error as Error).stack).not.toContain(a.secret);
  });
});
