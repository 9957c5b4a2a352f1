import { existsSync } from 'node:fs';
import type { z } from 'zod';
import {
  ConfigurationError,
  type ConfigurationFault,
  RagPlusPlusError,
  StorageError,
} from '../../core/errors/errors.ts';
import { writeAtomic } from '../../core/files/files.ts';
import { PRIVATE_MODE, readPrivateFile } from '../../core/files/private-file.ts';
import { formatPath } from '../../core/validation/validation.ts';
import { assertKeyRing, type KeyRing, keyRingSchema } from '../signatures/kernel-keys.ts';

/** The environment variable that may hold the keys of a kernel, as JSON. */
export const KEYS_VARIABLE = 'RAGPP_KERNEL_KEYS';

/** What is wrong, without any value: a value may be a secret. */
function describeIssue(issue: z.core.$ZodIssue): ConfigurationFault {
  const isUnknownKey = issue.code === 'unrecognized_keys';
  return {
    path: formatPath(issue.path),
    expected: isUnknownKey ? 'keyId, state, secret and privateKey of each of keys' : issue.message,
    got: isUnknownKey ? 'an unknown key' : 'something else, which is not shown',
  };
}

/**
 * The keys that a text holds.
 *
 * @param source a file or variable, as errors name it. No error holds a part of the text.
 * @throws ConfigurationError, ValidationError.
 */
export function parseKeyRing(text: string, source: string): KeyRing {
  const refuse = (faults: readonly ConfigurationFault[]) => new ConfigurationError(source, faults);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw refuse([{ path: '(text)', expected: 'JSON of ragpp kernel keygen', got: `${text.length} characters` }]);
  }
  const result = keyRingSchema.safeParse(value);
  if (!result.success) throw refuse(result.error.issues.map(describeIssue));
  try {
    assertKeyRing(result.data);
  } catch (error) {
    if (error instanceof RagPlusPlusError) throw error;
    // The library of node:crypto: its error is dropped, since no one has promised what it quotes.
    throw refuse([{ path: 'keys', expected: 'Ed25519 keys in PKCS#8', got: 'a private key that cannot be read' }]);
  }
  return result.data;
}

/**
 * Reads the keys of a kernel from a file that belongs to this user and that no one else may read (mode 0600 or 0400).
 *
 * @throws StorageError that ends with `chmod 600 PATH`; ConfigurationError and ValidationError without any value of the file.
 */
export function readKeyFile(path: string): KeyRing {
  return parseKeyRing(readPrivateFile(path, `make them: ragpp kernel keygen ${path}`), path);
}

/** Writes all keys or nothing, with mode 0600 from the first byte. @throws StorageError. */
export function writeKeyFile(path: string, ring: KeyRing): void {
  writeAtomic(path, `${JSON.stringify(ring, null, 2)}\n`, PRIVATE_MODE);
}

/** {@link writeKeyFile} where no file is. @throws StorageError for an existing file: keys that sign are never replaced by accident. */
export function createKeyFile(path: string, ring: KeyRing): void {
  if (existsSync(path))
    throw new StorageError('make keys', path, {
      cause: new Error('the file exists'),
      remedy: `take another name, or replace the signing key: ragpp kernel rotate ${path}`,
    });
  writeKeyFile(path, ring);
}

/**
 * The keys of a file, else those of the environment variable {@link KEYS_VARIABLE}, which is removed from the environment.
 *
 * @throws ConfigurationError if there are none.
 */
export function readKeys(
  path: string | undefined,
  environment: Record<string, string | undefined> = process.env,
): KeyRing {
  const text = environment[KEYS_VARIABLE];
  delete environment[KEYS_VARIABLE]; // processes that are started from here need no secret
  if (path !== undefined) return readKeyFile(path);
  if (text !== undefined) return parseKeyRing(text, KEYS_VARIABLE);
  const expected = `a file of ragpp kernel keygen, or its content in ${KEYS_VARIABLE}`;
  throw new ConfigurationError('the command line', [{ path: '--keys', expected, got: 'nothing' }]);
}
