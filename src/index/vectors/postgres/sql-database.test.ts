import { expect, test } from 'vitest';
import { ReplicationError, ShardError, StorageError, UnavailableError } from '../../../core/errors/errors.ts';
import { convertDatabaseError } from './sql-database.ts';

/** An error as the drivers throw it. */
const createError = (message: string, code?: string) => Object.assign(new Error(message), { code });

test.each([
  ['cannot execute DELETE in a read-only transaction', '25006', ReplicationError, 'name a server that takes writes'],
  ['canceling statement due to conflict with recovery', '40001', ReplicationError, 'repeat the search'],
  ['no partition of relation "memories" found for row', '23514', ShardError, 'add the partition'],
  ['could not connect to server "part_3"', '08001', ShardError, 'start the server of this part'],
  ['terminating connection due to administrator command', '57P01', UnavailableError, 'start the server'],
  ['relation "memories" does not exist', '42P01', StorageError, 'correct what Postgres reports'],
])('%s', (message, code, kind, remedy) => {
  const error = createError(message, code);
  const converted = convertDatabaseError(error, 'host/db');
  expect(converted).toBeInstanceOf(kind);
  expect(converted.message).toContain(message);
  expect(converted.message).toContain('host/db');
  expect(converted.message).toContain(remedy);
  expect(converted.cause).toBe(error);
});
