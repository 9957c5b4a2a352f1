import type { DomainDatabase } from './domain-options.ts';

/**
 * Opens a database for reading: Postgres by its connection string, else a file of DuckDB. Nothing can be written through it.
 *
 * @param address `postgres://user:password@host:port/database`, or a path.
 * @throws UnavailableError for a missing package, file or server; ValidationError for a connection string that cannot be read.
 */
export async function openDomainDatabase(address: string): Promise<DomainDatabase> {
  if (/^postgres(?:ql)?:\/\//.test(address)) {
    const { openPostgresDomain } = await import('./postgres-domain.ts');
    return openPostgresDomain(address);
  }
  const { openDuckDb } = await import('./duckdb-database.ts');
  return openDuckDb(address);
}
