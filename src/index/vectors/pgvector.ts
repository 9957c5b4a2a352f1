import { UnavailableError } from '../../core/errors/errors.ts';
import type { CandidateIndex } from '../../model/candidates.ts';
import type { IndexContext } from '../candidates/index-definition.ts';
import { asCandidateIndex, type ReplayedTurns } from './live/candidate-replay.ts';
import { openPglite } from './live/pglite-database.ts';
import { PgvectorIndex } from './live/pgvector.ts';
import { connectPostgres } from './live/postgres-database.ts';
import { shareDatabase } from './live/shared-database.ts';
import type { SqlDatabase } from './live/sql-database.ts';
import type { PgvectorSourceOptions } from './pgvector-options.ts';

/** Numbers the tables of this process, which no other sees. */
let tables = 0;

/** @throws UnavailableError if the variable is not set. */
function readUrl(variable: string | null): string | null {
  if (variable === null) return null;
  const url = process.env[variable]?.trim();
  if (url !== undefined && url !== '') return url;
  throw new UnavailableError(
    'index pgvector',
    `the environment variable ${variable} is not set; export postgres://user:password@host:port/database, or set urlVariable: null`,
  );
}

/** The database of the replays of this process: one connection, since the tables of a replay belong to theirs. */
export function openReplayDatabase(url: string | null): Promise<SqlDatabase> {
  if (url === null) return shareDatabase('replays in memory', () => openPglite(null));
  return shareDatabase(`replays at ${url}`, () => connectPostgres(url, { connections: 1 }));
}

/**
 * Turns in a temporary table of Postgres, by replay. Vectors are of length 1 or zero, so that every distance orders them as the cosine does.
 *
 * @throws UnavailableError if the variable of the connection string is not set; a search without a server or without PGlite.
 */
export function replayInPostgres(options: PgvectorSourceOptions, turns: ReplayedTurns): CandidateIndex {
  const { k: _, urlVariable, ...column } = options;
  const url = readUrl(urlVariable);
  const open = async () => {
    const table = { ...column, url, folder: null, distance: 'cosine', table: `ragpp_replay_${++tables}` } as const;
    const database = await openReplayDatabase(url);
    return PgvectorIndex.open(table, { dimension: turns.dimension }, database, 'session');
  };
  return asCandidateIndex('pgvector', turns, open);
}

export function createPgvector(
  options: PgvectorSourceOptions,
  { corpus, vectors, dimension }: IndexContext,
): CandidateIndex {
  return replayInPostgres(options, { ids: corpus.turns.map(({ id }) => id), vectors, dimension });
}
