import { cpSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { StorageError, WalCorruptedError } from '../../core/errors/errors.ts';
import { mountSmallDisk } from '../../core/files/small-disk.harness.ts';
import { listSegments } from '../../core/journal/segments.ts';
import { assertCount, findSteps, groupByWriter, type KilledWriters, runKills } from '../store/kills.harness.ts';
import { type BareVersion, listExpectedVersions } from './fact-kill-writer.harness.ts';
import { openFactStore } from './fact-store.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-fact-faults-'));
afterAll(() => rmSync(root, { recursive: true }));

const createFact = (id: string) => ({ id, source: 'ann', target: id, relation: 'knows', validFrom: 0 });

const FACT_WRITERS: KilledWriters = {
  entry: join(import.meta.dirname, 'fact-kill-writer.harness.ts'),
  async check(folder, acknowledged) {
    const store = await openFactStore(folder);
    try {
      const versions = store.versions();
      const moments = versions.map(({ recordedAt }) => recordedAt);
      expect(moments).toEqual(moments.toSorted((a, b) => a - b));
      const groups = groupByWriter(versions.map(({ recordedAt: _, supersededAt: __, ...bare }): BareVersion => bare));
      const steps = acknowledged.map((count, writer) =>
        findSteps(writer, count, groups[writer] as BareVersion[], listExpectedVersions),
      );
      assertCount(store.size, steps);
      return steps;
    } finally {
      await store.close();
    }
  },
};

test('what 16 writers of facts were acknowledged is there after their process was killed, also while it writes snapshots', async () => {
  const report = await runKills(root, 11, 19, FACT_WRITERS);
  expect(report.whileWriting).toBeGreaterThan(3);
  expect(report.acknowledged).toBeGreaterThan(report.kills); // how many more depends on the machine
  expect(report.snapshots).toBeGreaterThan(0);
});

const mounted = join(root, 'small');
const canMount = mountSmallDisk(mounted, '128k');

test.skipIf(!canMount)(
  'a change that the disk has no room for fails with those behind it, and later ones go on',
  async () => {
    const full = join(mounted, 'facts');
    const store = await openFactStore(full);
    await store.assert(createFact('a'), 1);
    const large = { ...createFact('large'), relation: 'x'.repeat(200_000) };
    const results = await Promise.allSettled([
      store.assert(large, 2),
      store.supersede('large', { validUntil: 3, recordedAt: 2 }),
      store.assert(createFact('behind'), 2),
    ]);
    expect(results.map((result) => (result as PromiseRejectedResult).reason instanceof StorageError)).toEqual([
      true,
      true,
      true,
    ]);
    await expect(store.supersede('large', { validUntil: 3, recordedAt: 3 })).rejects.toThrow('not in the graph: large');
    await store.assert(createFact('b'), 1); // the moment of what failed was not recorded
    const before = store.versions();
    await store.close();
    const again = await openFactStore(full);
    expect(again.versions()).toEqual(before);
    expect(before.map(({ id }) => id)).toEqual(['a', 'b']);
    await again.close();
  },
);

test('facts that were lost at the end are reported, and a snapshot of another history is refused', async () => {
  const [one, two] = [join(root, 'one'), join(root, 'two')];
  for (const [folder, ids] of [
    [one, ['a', 'b']],
    [two, ['a', 'x']],
  ] as const) {
    const store = await openFactStore(folder);
    for (const [moment, id] of ids.entries()) await store.assert(createFact(id), moment);
    await store.snapshot();
    await store.assert(createFact('last'), 9);
    await store.close();
  }
  const lost = join(root, 'lost');
  cpSync(one, lost, { recursive: true });
  rmSync(listSegments(lost)[0]?.path as string);
  const opened = await openFactStore(lost);
  expect(opened.size).toBe(2);
  expect(opened.warnings).toEqual([
    `fact store ${lost} has lost change 3: 1 acknowledged at its end is missing; restore the folder from a copy, or make what is missing again`,
  ]);
  await opened.close();
  const snapshot = readdirSync(two).find((name) => name.startsWith('snapshot-')) as string;
  rmSync(join(one, snapshot), { recursive: true });
  renameSync(join(two, snapshot), join(one, snapshot));
  await expect(openFactStore(one)).rejects.toThrow(WalCorruptedError);
  await expect(openFactStore(one)).rejects.toThrow(/it follows another entry 2 than the one that is there/);
});
