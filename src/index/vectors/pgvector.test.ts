import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { UnavailableError } from '../../core/errors/errors.ts';
import { requirePackages } from '../../core/required-packages.harness.ts';
import { describeCandidateIndex } from '../candidates/candidate-contract.harness.ts';
import { drawContractCorpus, drawContractQueries } from '../candidates/contract-sample.fixture.ts';
import { describePgvector } from './pgvector.harness.ts';
import { openReplayDatabase, replayInPostgres } from './pgvector.ts';
import { openPglite } from './postgres/pglite-database.ts';
import type { SqlDatabase } from './postgres/sql-database.ts';
import { type PgvectorSourceOptions, pgvector } from './vector-kind.ts';

/** A server for these tests: `.ci/postgres` sets it. Without one Postgres runs in this process. */
const VARIABLE = 'RAGPP_TEST_POSTGRES';
const { [VARIABLE]: url = null } = process.env;
const pglite = requirePackages('PGlite');
const parse = (input: object) =>
  pgvector.source.options.parse({
    index: 'pgvector',
    urlVariable: url === null ? null : VARIABLE,
    ...input,
  }) as PgvectorSourceOptions;

const describeReplays = url === null ? pglite.describe : describe;

describeReplays('replays', () => {
  let database: SqlDatabase;
  beforeAll(async () => {
    database = await openReplayDatabase(url); // for all tests: to start it takes seconds
  });
  afterAll(() => database.dispose());

  const listTables = async () =>
    (
      await database.transaction((session) =>
        session.query("select relname from pg_class where relname like 'ragpp_replay_%' and relkind = 'r'"),
      )
    ).length;

  describeCandidateIndex('pgvector', (corpus) => replayInPostgres(parse({}), corpus));

  test('the methods find what an exact search finds where all lists are read; no table remains', async () => {
    const [corpus, queries] = [drawContractCorpus(1201), drawContractQueries(11, 1201)];
    const search = async (input: object) => {
      const index = replayInPostgres(parse(input), corpus);
      const found = await index.search(queries, 5);
      index.dispose();
      return found;
    };
    const exact = await search({ method: 'none' });
    expect(await search({ method: 'ivfflat', lists: 7, probes: 7 })).toEqual(exact);
    expect((await search({ method: 'hnsw', efSearch: 400 })).positions).toEqual(exact.positions);
    await expect.poll(listTables).toBe(0);
  });
});

test('a variable that is not set is an error that names it', () => {
  const options = parse({ urlVariable: 'RAGPP_NO_SUCH_VARIABLE' });
  const open = () => replayInPostgres(options, drawContractCorpus(3));
  expect(open).toThrow(UnavailableError);
  expect(open).toThrow(
    /^index pgvector is not available: the environment variable RAGPP_NO_SUCH_VARIABLE is not set; /,
  );
});

pglite.describe('on PGlite', () => {
  let database: SqlDatabase;
  beforeAll(async () => {
    database = await openPglite(null);
  });
  afterAll(() => database.dispose());

  describePgvector('PGlite', async () => ({ ...database, dispose: async () => {} }));
});
