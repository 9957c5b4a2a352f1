import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ChecksumMismatchError, ValidationError } from '../../core/errors/errors.ts';
import { requirePackages } from '../../core/required-packages.harness.ts';
import { openPglite } from '../../index/vectors/postgres/pglite-database.ts';
import type { SqlDatabase } from '../../index/vectors/postgres/sql-database.ts';
import { createDatabase } from './queue.harness.ts';
import { connectQueue, QueueBlobs, QueueTables } from './queue-tables.ts';

/** A server for these tests: `.ci/postgres` sets it. */
const { RAGPP_TEST_POSTGRES: url } = process.env;
if (url === undefined)
  process.stderr.write('a queue on a server was not tested: RAGPP_TEST_POSTGRES is not set; run .ci/postgres\n');

const FACTS = { version: '1.0.0', code: 'abc', backend: 'wasm', blobBytes: 7 };
const LONG = 60;
/** Seconds of a lease that ends before the next look. */
const SHORT = 0.05;
const awaitLeaseEnd = () => sleep(SHORT * 1000 + 30);
const encode = (text: string) => new TextEncoder().encode(text);

/** Contract of the tables of a queue in any database. @param sessions how many transactions run at the same time. */
function describeQueue(where: string, open: () => Promise<SqlDatabase>, sessions: number): void {
  describe(`a queue in ${where}`, () => {
    let database: SqlDatabase;
    let tables: QueueTables;
    let number = 0;
    beforeAll(async () => {
      database = await open();
      const opened = await Promise.all(Array.from({ length: 5 }, () => QueueTables.open(database)));
      tables = opened[0] as QueueTables;
    });
    afterAll(() => database?.dispose());

    async function addRun(arms: readonly string[], aliveSeconds = LONG): Promise<string> {
      const run = `run-${number++}`;
      await tables.add({ run, facts: FACTS, files: { 'config.yaml': `of ${run}\n` } }, arms, aliveSeconds);
      return run;
    }

    test('gives each arm to one worker, in the order of the arms, and runs from others are left alone', async () => {
      const [run, other] = [await addRun(['c', 'a', 'b']), await addRun(['d'])];
      expect((await tables.listRuns()).filter(({ run: id }) => [run, other].includes(id))).toEqual([
        { run, facts: FACTS },
        { run: other, facts: FACTS },
      ]);
      expect(await tables.readFiles(run)).toEqual({ 'config.yaml': `of ${run}\n` });
      const leased = [];
      for (let look = 0; look < 4; look++) leased.push(await tables.lease(`w${look}`, [run], LONG));
      expect(leased).toEqual([{ run, arm: 'c' }, { run, arm: 'a' }, { run, arm: 'b' }, null]);
      await tables.remove(run);
      expect(await tables.readFiles(run)).toBeNull();
      expect(await tables.lease('w', [other], LONG)).toEqual({ run: other, arm: 'd' });
    });

    test.skipIf(sessions === 1)('workers that ask at the same time get different arms', async () => {
      const arms = Array.from({ length: 23 }, (_, i) => `arm ${i}`);
      const run = await addRun(arms);
      const leased: string[] = [];
      const work = async (worker: number) => {
        for (let looks = 0; looks < 60; looks++) {
          const found = await tables.lease(`w${worker}`, [run], LONG);
          if (found !== null) leased.push(found.arm);
        }
      };
      await Promise.all(Array.from({ length: 7 }, (_, worker) => work(worker)));
      expect([...leased].sort()).toEqual([...arms].sort());
    });

    test('an arm whose holder is silent goes to another worker once, and is lost then', async () => {
      const run = await addRun(['a']);
      const held = { run, arm: 'a' };
      expect(await tables.lease('first', [run], SHORT)).toEqual(held);
      expect(await tables.hold('first', held, SHORT, 0.25)).toBe(true);
      expect(await tables.readShares(run)).toEqual(new Map([['a', 0.25]]));
      await awaitLeaseEnd();
      expect(await tables.listLost(run)).toEqual([]);
      expect(await tables.lease('second', [run], LONG)).toEqual(held);
      expect(await tables.hold('first', held, LONG, 0.5)).toBe(false);
      await tables.finish('first', held, { isFailure: false, bytes: encode('late') });
      expect(await tables.readOutcomes(run, [])).toEqual([]);
      expect(await tables.hold('second', held, SHORT, 0.5)).toBe(true);
      await awaitLeaseEnd();
      expect(await tables.lease('third', [run], LONG)).toBeNull();
      expect(await tables.listLost(run)).toEqual(['a']);
    });

    test('an arm that is given back in order is tried as often as any other', async () => {
      const run = await addRun(['a']);
      const held = { run, arm: 'a' };
      for (let time = 0; time < 4; time++) {
        expect(await tables.lease('w', [run], LONG)).toEqual(held);
        expect(await tables.isLastTry(held)).toBe(false);
        await tables.giveBack('w', held, false);
      }
      await tables.lease('w', [run], LONG);
      await tables.giveBack('another', held, false);
      expect(await tables.lease('another', [run], LONG)).toBeNull();
      await tables.giveBack('w', held, true);
      expect(await tables.lease('w', [run], LONG)).toEqual(held);
      expect(await tables.isLastTry(held)).toBe(true);
    });

    test('outcomes come back byte for byte, each once', async () => {
      const arms = Array.from({ length: 11 }, (_, i) => `arm "${i}" × 2`);
      const run = await addRun(arms);
      const bytes = Uint8Array.from({ length: 257 }, (_, i) => i % 256);
      for (const arm of arms) {
        await tables.lease('w', [run], LONG);
        await tables.finish('w', { run, arm }, { isFailure: arm === arms[3], bytes });
      }
      const found = new Map<string, boolean>();
      for (let look = 0; look < 3; look++)
        for (const outcome of await tables.readOutcomes(run, [...found.keys()])) {
          expect(found.has(outcome.arm)).toBe(false);
          expect(Array.from(outcome.bytes)).toEqual(Array.from(bytes));
          found.set(outcome.arm, outcome.isFailure);
        }
      expect(found).toEqual(new Map(arms.map((arm, i) => [arm, i === 3])));
      expect((await tables.listRuns()).map((one) => one.run)).not.toContain(run);
    });

    test('arms of a run whose command is silent are neither given nor held', async () => {
      const run = await addRun(['a', 'b']);
      const held = { run, arm: 'a' };
      expect(await tables.lease('w', [run], LONG)).toEqual(held);
      expect(await tables.keepAlive(run, SHORT)).toBe(true);
      await awaitLeaseEnd();
      expect(await tables.hold('w', held, LONG, 0)).toBe(false);
      expect(await tables.lease('w', [run], LONG)).toBeNull();
      expect((await tables.listRuns()).map((one) => one.run)).not.toContain(run);
      expect(await tables.keepAlive(run, LONG)).toBe(true);
      expect(await tables.lease('w', [run], LONG)).toEqual({ run, arm: 'b' });
      await tables.remove(run);
      expect(await tables.keepAlive(run, LONG)).toBe(false);
    });

    test('blobs come back byte for byte, in parts too, within the room that there is', async () => {
      const blobs = new QueueBlobs(database, 20_000_000);
      expect(await blobs.get('none')).toBeNull();
      const large = new Uint8Array(17_000_003).map((_, i) => (i * 7919) % 251);
      for (const [name, bytes] of [
        ['empty', new Uint8Array()],
        ['large', large],
      ] as const) {
        expect(await blobs.put(name, bytes)).toBe(true);
        expect(await blobs.put(name, bytes)).toBe(true);
        expect(Buffer.compare((await blobs.get(name)) as Uint8Array, bytes)).toBe(0);
      }
      expect(await blobs.put('more', large)).toBe(false);
      expect(await blobs.get('more')).toBeNull();
    });

    test('a blob that was altered is an error with its name', async () => {
      const blobs = new QueueBlobs(database, 1e9);
      await blobs.put('altered', encode('as it was'));
      await database.transaction((session) =>
        session.query(`update ragpp_queue_blob_parts set bytes = 'as it is' where name = 'altered'`),
      );
      await expect(blobs.get('altered')).rejects.toThrow(ChecksumMismatchError);
      await expect(blobs.get('altered')).rejects.toThrow(/altered in ragpp_queue_blobs .*; delete the row/);
    });

    test('runs and blobs unused for a day are deleted with the next run', async () => {
      const run = await addRun(['a']);
      const blobs = new QueueBlobs(database, 1e9);
      for (const name of ['old', 'new']) await blobs.put(name, encode(name));
      await database.transaction(async (session) => {
        const past = `now() - interval '25 hours'`;
        await session.query(`update ragpp_queue_runs set alive_until = ${past} where run = '${run}'`);
        await session.query(`update ragpp_queue_blobs set used = ${past} where name in ('old', 'new')`);
      });
      expect(await blobs.get('new')).toEqual(encode('new'));
      await addRun(['b']);
      expect(await tables.readFiles(run)).toBeNull();
      expect(await blobs.get('old')).toBeNull();
      expect(await blobs.get('new')).toEqual(encode('new'));
    });

    test('tables of another form are refused with both numbers', async () => {
      await database.transaction((session) => session.query('update ragpp_queue_version set version = 7'));
      await expect(QueueTables.open(database)).rejects.toThrow(
        /^tables ragpp_queue_\* at .* have form 7, this version needs 1; use the same version everywhere, or drop/,
      );
      await database.transaction((session) => session.query('update ragpp_queue_version set version = 1'));
    });
  });
}

const pglite = requirePackages('PGlite');
if (pglite.isInstalled) describeQueue('this process', () => openPglite(null), 1);
if (url !== undefined)
  describeQueue('a server', async () => connectQueue(await createDatabase(url, 'queue_tables')), 4);

test('a password in the connection string is refused, without its text', async () => {
  const connecting = connectQueue('postgres://user:hunter2@host/queue');
  await expect(connecting).rejects.toThrow(ValidationError);
  await expect(connecting).rejects.toThrow(/^(?!.*hunter2).*leave it out and set PGPASSWORD/);
});
