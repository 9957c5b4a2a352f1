import { createHash } from 'node:crypto';
import { ChecksumMismatchError, ValidationError } from '../../core/errors/errors.ts';
import type { BlobStore } from '../../core/files/blob-store.ts';
import { connectPostgres } from '../../index/vectors/postgres/postgres-database.ts';
import type { SqlDatabase, SqlRow } from '../../index/vectors/postgres/sql-database.ts';
import type { ArmOutcome } from './launcher.ts';

/** The form of the tables. */
const VERSION = 1;

/** The number of the lock under which tables are made. */
const LOCK = 7_242_001;

const SCHEMA = `
create table if not exists ragpp_queue_version (version int not null);
create table if not exists ragpp_queue_runs (
  run text primary key, facts text not null, files text not null,
  created timestamptz not null default clock_timestamp(), alive_until timestamptz not null);
create table if not exists ragpp_queue_arms (
  run text not null references ragpp_queue_runs on delete cascade, arm text not null, place int not null,
  tries int not null default 0, worker text, lease_end timestamptz, share real not null default 0,
  is_failure boolean, outcome bytea, primary key (run, arm));
create table if not exists ragpp_queue_blobs (
  name text primary key, sha256 text not null, size bigint not null, used timestamptz not null default now());
create table if not exists ragpp_queue_blob_parts (
  name text not null references ragpp_queue_blobs on delete cascade, part int not null, bytes bytea not null,
  primary key (name, part));
insert into ragpp_queue_version select ${VERSION} where not exists (select 1 from ragpp_queue_version)`;

/** Tries of an arm whose worker is lost, as those of a pool of processes. */
export const TRIES = 2;

/** Bytes of a part of a blob, which one statement sends. */
const PART = 2 ** 23;

/** The days after which an unused blob, and a run whose command is gone, are deleted. */
const KEPT_DAYS = 1;

/** Values that a worker must share with the command of a run, and the room for blobs. */
export interface RunFacts {
  /** The most bytes of all blobs together. */
  readonly blobBytes: number;
  /** The version of the package. */
  readonly version: string;
  /** See `recordVersion`. */
  readonly code: string;
  readonly backend: string;
}

/** A run as its command puts it into the queue. */
export interface QueuedRun {
  readonly run: string;
  readonly facts: RunFacts;
  /** The files that a worker makes the folder of the run of: name -> text. */
  readonly files: Readonly<Record<string, string>>;
}

/** An arm that a worker holds. */
export interface LeasedArm {
  readonly run: string;
  readonly arm: string;
}

const toBase64 = (bytes: Uint8Array) =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
const computeChecksum = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

/**
 * Opens a server for a queue.
 *
 * @param url without a password, which would be stored with the run and shown in lists of processes.
 * @throws ValidationError for a connection string that cannot be read or holds a password.
 */
export async function connectQueue(url: string): Promise<SqlDatabase> {
  if (URL.canParse(url) && new URL(url).password !== '')
    throw new ValidationError(
      'the connection string of the queue holds a password, which would be stored with the run; leave it out and set PGPASSWORD or a file of passwords (PGPASSFILE)',
    );
  return connectPostgres(url);
}

/**
 * The tables of a queue in a database: runs, their arms, who holds an arm until when, and outcomes. Times are those of
 * the database, so clocks of machines do not matter. Several runs and any number of workers share the tables.
 */
export class QueueTables {
  readonly #database: SqlDatabase;

  private constructor(database: SqlDatabase) {
    this.#database = database;
  }

  /** Makes the tables on first use. @throws ValidationError for tables of another form. */
  static async open(database: SqlDatabase): Promise<QueueTables> {
    await database.transaction(async (session) => {
      await session.query(`select pg_advisory_xact_lock(${LOCK})`);
      const [{ found } = {}] = await session.query(`select to_regclass('ragpp_queue_version')::text as found`);
      if (found === null) for (const statement of SCHEMA.split(';')) await session.query(statement);
      const [{ version } = {}] = await session.query('select version from ragpp_queue_version');
      if (version !== VERSION)
        throw new ValidationError(
          `tables ragpp_queue_* at ${database.address} have form ${version}, this version needs ${VERSION}; use the same version everywhere, or drop the tables`,
        );
    });
    return new QueueTables(database);
  }

  #ask(sql: string, parameters: Parameters<Parameters<Parameters<SqlDatabase['transaction']>[0]>[0]['queryOne']>[1]) {
    return this.#database.transaction((session) => session.queryOne(sql, parameters));
  }

  /** Puts a run with its arms into the queue, and deletes what others have left for days. */
  async add({ run, facts, files }: QueuedRun, arms: readonly string[], aliveSeconds: number): Promise<void> {
    await this.#database.transaction(async (session) => {
      const old = `now() - interval '${KEPT_DAYS} day'`;
      await session.query(`delete from ragpp_queue_runs where alive_until < ${old}`);
      await session.query(`delete from ragpp_queue_blobs where used < ${old}`);
      await session.queryOne(
        `insert into ragpp_queue_runs (run, facts, files, alive_until) values ($1, $2, $3, now() + $4::float8 * interval '1 second')`,
        [run, JSON.stringify(facts), JSON.stringify(files), aliveSeconds],
      );
      await session.queryOne(
        'insert into ragpp_queue_arms (run, arm, place) select $1, arm, place from unnest($2::text[]) with ordinality as t(arm, place)',
        [run, arms],
      );
    });
  }

  /** Says that the command of a run is there. @returns false for a run that is no longer in the queue. */
  async keepAlive(run: string, seconds: number): Promise<boolean> {
    const sql = `update ragpp_queue_runs set alive_until = now() + $2::float8 * interval '1 second' where run = $1 returning 1`;
    return (await this.#ask(sql, [run, seconds])).length > 0;
  }

  /** Takes a run out of the queue, and its arms from those who hold them. */
  async remove(run: string): Promise<void> {
    await this.#ask('delete from ragpp_queue_runs where run = $1', [run]);
  }

  /** The outcomes of a run without those of some arms, and how far the others are. */
  async readOutcomes(run: string, without: readonly string[]): Promise<(ArmOutcome & { readonly arm: string })[]> {
    const sql =
      'select arm, is_failure, outcome from ragpp_queue_arms where run = $1 and outcome is not null and arm <> all($2::text[]) order by place limit 8';
    const rows = await this.#ask(sql, [run, without]);
    return rows.map((row) => ({
      arm: row.arm as string,
      isFailure: row.is_failure as boolean,
      bytes: row.outcome as Uint8Array,
    }));
  }

  /** Arm -> the share of it that is done, of the arms that are held. */
  async readShares(run: string): Promise<ReadonlyMap<string, number>> {
    const sql = 'select arm, share from ragpp_queue_arms where run = $1 and outcome is null and worker is not null';
    return new Map((await this.#ask(sql, [run])).map(({ arm, share }) => [arm as string, share as number]));
  }

  /** The arms whose last try has lost its worker. */
  async listLost(run: string): Promise<string[]> {
    const sql = `select arm from ragpp_queue_arms where run = $1 and outcome is null and tries >= ${TRIES} and lease_end < now()`;
    return (await this.#ask(sql, [run])).map(({ arm }) => arm as string);
  }

  /** The runs whose command is there and that have an arm without an outcome, oldest first. */
  async listRuns(): Promise<{ readonly run: string; readonly facts: RunFacts }[]> {
    const sql = `select run, facts from ragpp_queue_runs r where alive_until > now()
      and exists (select 1 from ragpp_queue_arms a where a.run = r.run and a.outcome is null) order by created, run`;
    const rows = await this.#ask(sql, []);
    return rows.map(({ run, facts }) => ({ run: run as string, facts: JSON.parse(facts as string) as RunFacts }));
  }

  /** The files of a run; null if it is no longer in the queue. */
  async readFiles(run: string): Promise<QueuedRun['files'] | null> {
    const [row] = await this.#ask('select files from ragpp_queue_runs where run = $1', [run]);
    return row === undefined ? null : (JSON.parse(row.files as string) as QueuedRun['files']);
  }

  /**
   * Gives a worker the first arm of some runs that is free, or whose holder has not been heard of in time.
   *
   * @returns null if there is none.
   */
  async lease(worker: string, runs: readonly string[], seconds: number): Promise<LeasedArm | null> {
    const sql = `with next as (
        select a.run, a.arm from ragpp_queue_arms a join ragpp_queue_runs r on r.run = a.run
        where a.run = any($2::text[]) and a.outcome is null and a.tries < ${TRIES}
          and (a.lease_end is null or a.lease_end < now()) and r.alive_until > now()
        order by r.created, r.run, a.place limit 1 for update of a skip locked)
      update ragpp_queue_arms a
      set worker = $1, lease_end = now() + $3::float8 * interval '1 second', tries = a.tries + 1, share = 0
      from next where a.run = next.run and a.arm = next.arm returning a.run, a.arm`;
    const [row] = await this.#ask(sql, [worker, runs, seconds]);
    return row === undefined ? null : { run: row.run as string, arm: row.arm as string };
  }

  /**
   * Holds an arm for some more seconds.
   *
   * @returns false if the worker no longer holds the arm, or the command of its run is gone.
   */
  async hold(worker: string, { run, arm }: LeasedArm, seconds: number, share: number): Promise<boolean> {
    const sql = `update ragpp_queue_arms a set lease_end = now() + $4::float8 * interval '1 second', share = $5::real
      from ragpp_queue_runs r where a.run = $1 and a.arm = $2 and a.worker = $3 and a.outcome is null
        and r.run = a.run and r.alive_until > now() returning 1`;
    return (await this.#ask(sql, [run, arm, worker, seconds, share])).length > 0;
  }

  /** Gives an arm back. @param isTried false if the try does not count, as the worker ends in order. */
  async giveBack(worker: string, { run, arm }: LeasedArm, isTried: boolean): Promise<void> {
    const sql = `update ragpp_queue_arms set worker = null, lease_end = null, share = 0, tries = tries - $4::int
      where run = $1 and arm = $2 and worker = $3 and outcome is null`;
    await this.#ask(sql, [run, arm, worker, isTried ? 0 : 1]);
  }

  /** True if an arm is at its last try. */
  async isLastTry({ run, arm }: LeasedArm): Promise<boolean> {
    const [row] = await this.#ask('select tries from ragpp_queue_arms where run = $1 and arm = $2', [run, arm]);
    return (((row as SqlRow | undefined)?.tries as number | undefined) ?? 0) >= TRIES;
  }

  /** Stores the outcome of an arm that the worker holds; of another it is dropped. */
  async finish(worker: string, { run, arm }: LeasedArm, { isFailure, bytes }: ArmOutcome): Promise<void> {
    const sql = `update ragpp_queue_arms set outcome = decode($4, 'base64'), is_failure = $5, lease_end = null, share = 1
      where run = $1 and arm = $2 and worker = $3 and outcome is null`;
    await this.#ask(sql, [run, arm, worker, toBase64(bytes), isFailure]);
  }

  dispose(): Promise<void> {
    return this.#database.dispose();
  }
}

/** Blobs in the tables of a queue. The order in which names are put decides what the room is for. */
export class QueueBlobs implements BlobStore {
  readonly #database: SqlDatabase;
  readonly #room: number;

  /** @param room the most bytes of all blobs together. */
  constructor(database: SqlDatabase, room: number) {
    this.#database = database;
    this.#room = room;
  }

  get(name: string): Promise<Uint8Array | null> {
    return this.#database.transaction(async (session) => {
      const sql = 'update ragpp_queue_blobs set used = now() where name = $1 returning sha256';
      const [blob] = await session.queryOne(sql, [name]);
      if (blob === undefined) return null;
      const parts = await session.queryOne('select bytes from ragpp_queue_blob_parts where name = $1 order by part', [
        name,
      ]);
      const bytes = new Uint8Array(Buffer.concat(parts.map((part) => part.bytes as Uint8Array)));
      if (computeChecksum(bytes) !== blob.sha256)
        throw new ChecksumMismatchError(
          `${name} in ragpp_queue_blobs at ${this.#database.address}`,
          'its checksum differs',
          'delete the row and run again with --retry-failed',
        );
      return bytes;
    });
  }

  put(name: string, bytes: Uint8Array): Promise<boolean> {
    return this.#database.transaction(async (session) => {
      const has = await session.queryOne('update ragpp_queue_blobs set used = now() where name = $1 returning 1', [
        name,
      ]);
      if (has.length > 0) return true;
      const inserted = await session.queryOne(
        `insert into ragpp_queue_blobs (name, sha256, size) select $1, $2, $3::bigint
          where $3::bigint + (select coalesce(sum(size), 0) from ragpp_queue_blobs) <= $4::bigint
          on conflict do nothing returning 1`,
        [name, computeChecksum(bytes), bytes.byteLength, this.#room],
      );
      if (inserted.length === 0)
        return (await session.queryOne('select 1 from ragpp_queue_blobs where name = $1', [name])).length > 0;
      for (let part = 0; part * PART < bytes.byteLength; part++)
        await session.queryOne("insert into ragpp_queue_blob_parts values ($1, $2, decode($3, 'base64'))", [
          ...[name, part],
          toBase64(bytes.subarray(part * PART, (part + 1) * PART)),
        ]);
      return true;
    });
  }
}

/** The blobs of a queue, with a connection of their own that lasts as long as the process. */
export async function openQueueBlobs(queue: { readonly url: string; readonly blobBytes: number }): Promise<BlobStore> {
  return new QueueBlobs(await connectQueue(queue.url), queue.blobBytes);
}
