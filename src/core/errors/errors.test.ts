import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import * as errors from './errors.ts';
import {
  ChecksumMismatchError,
  ConfigurationError,
  ConvergenceError,
  DimensionMismatchError,
  IndexCapacityError,
  IndexNotFoundError,
  InvalidFilterError,
  QueryError,
  QueryTimeoutError,
  RagPlusPlusError,
  ReplicationError,
  ShardError,
  StorageError,
  WalCorruptedError,
} from './errors.ts';

test('every error has a name, a stable code and its facts', () => {
  const error = new DimensionMismatchError('embedding', 512, 384);
  expect(error).toBeInstanceOf(RagPlusPlusError);
  expect([error.name, error.code, error.message]).toEqual([
    'DimensionMismatchError',
    'DIMENSION_MISMATCH',
    'embedding: expected 512, got 384; pass matching sizes',
  ]);
  expect(error.facts).toEqual({ what: 'embedding', expected: 512, got: 384 });
});

/** Below each base, set in, the classes that it catches: the tree of docs/library.md. */
function formatTree(): string {
  const classes = Object.values(errors).filter(
    (value): value is typeof RagPlusPlusError => typeof value === 'function',
  );
  const listBelow = (base: object, depth: number): string[] =>
    classes
      .filter((one) => Object.getPrototypeOf(one) === base)
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .flatMap((one) => [`${'  '.repeat(depth)}${one.name}`, ...listBelow(one, depth + 1)]);
  return ['RagPlusPlusError', ...listBelow(RagPlusPlusError, 1)].join('\n');
}

test('a program catches errors by the bases that the docs list', () => {
  const page = readFileSync(new URL('../../../docs/library.md', import.meta.url), 'utf8');
  const [, listed] = /```text\n(RagPlusPlusError\n[\s\S]*?)\n```/.exec(page) ?? [];
  expect(formatTree()).toBe(listed);
});

const fault = { place: 'line 1', expected: 'a', got: 'b', remedy: 'c' };
const CAUGHT: readonly (readonly [Error, abstract new (...args: never[]) => Error, code: string])[] = [
  [new IndexNotFoundError('a', 'b'), errors.IndexError, 'INDEX_NOT_FOUND'],
  [new errors.IndexBuildError('a', 'b'), errors.IndexError, 'INDEX_BUILD'],
  [new IndexCapacityError('a', 1, 2, 'b'), errors.IndexError, 'INDEX_CAPACITY'],
  [new QueryError('a'), errors.RetrievalError, 'QUERY'],
  [new QueryTimeoutError(2, 1), errors.RetrievalError, 'QUERY_TIMEOUT'],
  [new InvalidFilterError(fault), errors.RetrievalError, 'INVALID_FILTER'],
  [new errors.RecordNotFoundError('a', 'b'), errors.MemoryStoreError, 'RECORD_NOT_FOUND'],
  [new errors.DuplicateRecordError('a', 'b'), errors.MemoryStoreError, 'DUPLICATE_RECORD'],
  [new WalCorruptedError('a', 1, 'b'), errors.MemoryStoreError, 'WAL_CORRUPTED'],
  [new ShardError('a', 'b', 'c'), errors.DistributedError, 'SHARD'],
  [new ReplicationError('a', 'b', 'c'), errors.DistributedError, 'REPLICATION'],
  [new ConfigurationError('a', []), RagPlusPlusError, 'CONFIGURATION'],
  [new errors.ValidationError('a'), RagPlusPlusError, 'VALIDATION'],
  [new errors.SensitiveTextError('a', 1, 2), RagPlusPlusError, 'SENSITIVE_TEXT'],
  [new DimensionMismatchError('a', 1, 2), RagPlusPlusError, 'DIMENSION_MISMATCH'],
  [new ChecksumMismatchError('a', 'b', 'c'), RagPlusPlusError, 'CHECKSUM_MISMATCH'],
  [new errors.NotFiniteError('a', 'b', 1), RagPlusPlusError, 'NOT_FINITE'],
  [new ConvergenceError('a', 1, 2, 3), RagPlusPlusError, 'CONVERGENCE'],
  [new errors.UnavailableError('a', 'b'), RagPlusPlusError, 'UNAVAILABLE'],
  [new errors.PluginError('a', 'b'), RagPlusPlusError, 'PLUGIN'],
  [new errors.ProcessDiedError('a'), RagPlusPlusError, 'PROCESS_DIED'],
  [new StorageError('a', 'b'), RagPlusPlusError, 'STORAGE'],
  [new errors.ConservationViolationError('a', {}), RagPlusPlusError, 'CONSERVATION_VIOLATION'],
];

test.each(CAUGHT)('%s is caught by its base and told from others by its code', (error, base, code) => {
  expect(error).toBeInstanceOf(base);
  expect(error).toMatchObject({ code, name: error.constructor.name });
  // The rule that the docs state.
  expect(code).toBe(
    error.name
      .replace(/Error$/, '')
      .replace(/(?<=[a-z])(?=[A-Z])/g, '_')
      .toUpperCase(),
  );
});

test('the table of codes has every class but the bases', () => {
  const bases = CAUGHT.map(([, { name }]) => name);
  const names = [...new Set([...bases, ...CAUGHT.map(([{ name }]) => name)])];
  const listed = formatTree()
    .split('\n')
    .map((line) => line.trim());
  expect(names.sort()).toEqual(listed.sort());
});

test('a configuration error lists all errors and keeps them as fields', () => {
  const faults = [
    { path: 'a', expected: 'number', got: '"x"' },
    { path: 'b.c', expected: 'one of d', got: 'unknown key "e"', nearest: 'd' },
  ];
  const error = new ConfigurationError('run.yaml', faults);
  expect(error.message).toBe(
    '2 errors in run.yaml; correct and run again:\n  a: expected number, got "x"\n  b.c: expected one of d, got unknown key "e"; did you mean d?',
  );
  expect(error.faults).toEqual(faults);
  const elsewhere = new ConfigurationError('run.yaml', [
    { path: 'a', file: 'base.yaml', expected: 'number', got: '"x"' },
  ]);
  expect(elsewhere.message).toBe(
    '1 error in run.yaml; correct and run again:\n  a (base.yaml): expected number, got "x"',
  );
});

test('the cause is kept and its message shown', () => {
  const cause = new Error('EACCES: permission denied');
  const error = new StorageError('write', '/x', { cause });
  expect(error.cause).toBe(cause);
  expect(error.message).toBe(
    'cannot write (EACCES: permission denied): /x; check that the path exists and that you may access it',
  );
  expect(new StorageError('write', '/x', { remedy: 'remove the link' }).message).toBe(
    'cannot write: /x; remove the link',
  );
});

test('a damaged file comes with a remedy', () => {
  expect(new ChecksumMismatchError('/c', 'too short', 'delete it').message).toBe(
    'damaged file /c: too short; delete it',
  );
});

test('an iteration that did not converge names its residual and a remedy', () => {
  expect(new ConvergenceError('solver', 31, 1e-10, 0.25).message).toBe(
    'solver did not converge to 1e-10 within 31 iterations, residual: 0.25; allow more iterations or a larger tolerance',
  );
});

test.each([
  [
    new IndexNotFoundError('semntic', 'semantic'),
    'INDEX_NOT_FOUND',
    'there is no index of this name: semntic; use semantic',
  ],
  [
    new IndexCapacityError('flat', 4, 5, 'use hnsw'),
    'INDEX_CAPACITY',
    'flat index holds at most 4 vectors, got 5; use hnsw',
  ],
  [new QueryError('k is 0; pass a whole number from 1'), 'QUERY', 'k is 0; pass a whole number from 1'],
  [
    new QueryTimeoutError(1203.4, 1000),
    'QUERY_TIMEOUT',
    'query took longer than 1000 ms: 1203 ms; raise timeoutMs, lower k or search fewer indexes',
  ],
  [
    new InvalidFilterError({ place: 'line 1, column 3', expected: 'a word', got: 'the end', remedy: 'write one' }),
    'INVALID_FILTER',
    'invalid filter at line 1, column 3: expected a word, got the end; write one',
  ],
  [
    new ShardError('records_3', 'connection refused', 'start its server'),
    'SHARD',
    'shard records_3: connection refused; start its server',
  ],
  [
    new ReplicationError('b:5432', '7 changes behind', 'wait or read from the original'),
    'REPLICATION',
    'replica b:5432: 7 changes behind; wait or read from the original',
  ],
  [
    new WalCorruptedError('/store', 7, 'checksum differs', 'run ragpp memory repair'),
    'WAL_CORRUPTED',
    'damaged journal /store: checksum differs, the first lost entry is 7; run ragpp memory repair',
  ],
])('%s has its code and message', (error, code, message) => {
  expect([error.code, error.message]).toEqual([code, message]);
});

test('the first lost entry is a field', () => {
  expect(new WalCorruptedError('/store', 7, 'x', 'y').sequence).toBe(7);
});
