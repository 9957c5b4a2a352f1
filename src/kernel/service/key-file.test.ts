import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { ConfigurationError, StorageError } from '../../core/errors/errors.ts';
import { makeKeys } from '../policies/slices.fixture.ts';
import { generateKey, type KeyRing } from '../signatures/kernel-keys.ts';
import { createKeyFile, KEYS_VARIABLE, parseKeyRing, readKeyFile, readKeys, writeKeyFile } from './key-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'kernel-keys-'));
afterAll(() => rmSync(folder, { recursive: true }));
const keys = makeKeys();
const [key] = keys.keys as [KeyRing['keys'][0]];

test('keys are written for their owner alone, also over a file that others may read', () => {
  const path = join(folder, 'new.json');
  createKeyFile(path, keys);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readKeyFile(path)).toEqual(keys);
  chmodSync(path, 0o644);
  writeKeyFile(path, keys);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  chmodSync(path, 0o400);
  expect(readKeyFile(path)).toEqual(keys);
  const before = readFileSync(path);
  expect(() => createKeyFile(path, makeKeys())).toThrow(/the file exists.*ragpp kernel rotate/);
  expect(readFileSync(path)).toEqual(before);
});

test.each([0o640, 0o604, 0o660, 0o700, 0o644])('keys with permissions %o are not read', (mode) => {
  const path = join(folder, `open-${mode}.json`);
  createKeyFile(path, keys);
  chmodSync(path, mode);
  expect(() => readKeyFile(path)).toThrow(StorageError);
  expect(() => readKeyFile(path)).toThrow(`which others may read: ${path}; chmod 600 ${path}`);
});

test('a missing file says how to make one', () => {
  const path = join(folder, 'none.json');
  expect(() => readKeyFile(path)).toThrow(`ragpp kernel keygen ${path}`);
});

/** Damaged keys; each still holds secrets. */
const DAMAGED: readonly (readonly [string, string, string])[] = [
  ['a torn file', JSON.stringify(keys).slice(0, -20), '(text)'],
  ['a word before it', `x${JSON.stringify(keys)}`, '(text)'],
  ['a list', JSON.stringify(keys.keys), '(top level)'],
  ['a secret that is too long', JSON.stringify({ keys: [{ ...key, secret: `${key.secret}00` }] }), 'keys[0].secret'],
  ['a secret as a number of a name', JSON.stringify({ keys: [{ ...key, [key.secret]: 1 }] }), 'keys[0]'],
  ['a state that is a secret', JSON.stringify({ keys: [{ ...key, state: key.secret }] }), 'keys[0].state'],
  ['a key id that is a secret', JSON.stringify({ keys: [{ ...key, keyId: key.secret }] }), 'keys[0].keyId'],
  [
    'a private key without its head',
    JSON.stringify({ keys: [{ ...key, privateKey: key.privateKey.split('\n')[1] }] }),
    'keys[0].privateKey',
  ],
  [
    'half a private key',
    JSON.stringify({ keys: [{ ...key, privateKey: key.privateKey.slice(0, 60) }] }),
    'a private key that cannot be read',
  ],
  ['the private key of another', JSON.stringify({ keys: [{ ...key, keyId: generateKey().keyId }] }), 'another id'],
  ['none that signs', JSON.stringify({ keys: [{ ...key, state: 'retired' }] }), 'one key signs'],
];

test.each(DAMAGED)('%s is refused without a word of the secrets', (_, text, place) => {
  let thrown: unknown;
  try {
    parseKeyRing(text, 'keys.json');
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toBeInstanceOf(Error);
  const { message, stack, cause } = thrown as Error;
  expect(message).toContain(place);
  const shown = [message, stack, JSON.stringify(thrown), String(cause)].join();
  for (const secret of [key.secret, key.privateKey.split('\n')[1] as string])
    expect(shown).not.toContain(secret.slice(0, 12));
});

test('keys come from the file, else from the environment, which does not keep them', () => {
  const path = join(folder, 'file.json');
  createKeyFile(path, keys);
  const other = makeKeys();
  const environment = { [KEYS_VARIABLE]: JSON.stringify(other) };
  expect(readKeys(undefined, environment)).toEqual(other);
  expect(environment).toEqual({});
  expect(readKeys(path, { [KEYS_VARIABLE]: 'not read' })).toEqual(keys);
  expect(() => readKeys(undefined, {})).toThrow(ConfigurationError);
  writeFileSync(path, '');
  expect(() => readKeys(path, {})).toThrow('got 0 characters');
});
