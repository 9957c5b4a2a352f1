import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { useBackend } from '../../core/tensors/backend.ts';
import { bindFilter } from '../../model/filter/compile-filter.ts';
import { readFilter } from '../../model/filter/filter-schema.ts';
import { openStore } from '../store/open-store.ts';
import { finishRemoval, stageRemoval } from '../store/removal.ts';
import { repairStore } from '../store/repair-store.ts';
import { CANARY, countCanaries, DIMENSION, fillSite, openSite, SECRET_TALK, withLogs } from './canary.fixture.ts';
import { FolderLogs } from './folder-logs.ts';
import { planRemoval, toFilter } from './selection.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-interrupted-removal-'));
afterAll(() => rmSync(root, { recursive: true }));

const filled = join(root, 'filled');
/** Folders by the moment of a removal at which a process was killed. */
const moments = new Map<string, string>();
/** The folder after a removal that was not killed. */
const finished = join(root, 'finished');

function leaveKilled(moment: string, of: string): string {
  const left = join(root, moment.replaceAll(' ', '-'));
  cpSync(of, left, { recursive: true });
  for (const name of readdirSync(left, { recursive: true, encoding: 'utf8' }))
    if (/(?:^|\/)lock$/.test(name)) rmSync(join(left, name));
  moments.set(moment, left);
  return left;
}

/** Removes the secret conversation step by step. */
async function removeInSteps(folder: string): Promise<void> {
  const store = await openStore(folder);
  const logs = await FolderLogs.open(folder, false);
  const filter = readFilter(toFilter({ conversationId: SECRET_TALK }));
  const plan = planRemoval(() => store.records(), logs.records, bindFilter(filter));
  await stageRemoval(folder, plan, logs.paths, (i, into) => logs.writeWithout(plan, i, into));
  leaveKilled('decided', folder);
  await finishRemoval(store, async () => void leaveKilled('records removed', folder));
  await logs.close();
  await store.close();
}

/** Brings a decided removal on by some of the files of its logs. */
function replaceInPart(): void {
  const removal = (folder: string) => join(folder, 'removal');
  const begun = leaveKilled('a journal in its place', moments.get('records removed') as string);
  const staged = readdirSync(join(removal(begun), 'log-0')).find((name) => name.endsWith('.journal')) as string;
  renameSync(join(removal(begun), 'log-0', staged), join(begun, 'consolidation', staged));
  const end = leaveKilled('an end in its place', begun);
  renameSync(join(removal(end), 'log-0', 'end'), join(end, 'consolidation', 'end'));
  const gone = leaveKilled('the earlier journal removed', end);
  for (const name of readdirSync(join(gone, 'consolidation')))
    if (name.endsWith('.journal') && name !== staged) rmSync(join(gone, 'consolidation', name));
  const rows = leaveKilled('rows of an index removed', gone);
  rmSync(join(rows, 'indexes', 'exact'), { recursive: true });
  const all = leaveKilled('all but the plan', finished);
  mkdirSync(removal(all));
  cpSync(join(removal(moments.get('decided') as string), 'plan.json'), join(removal(all), 'plan.json'));
}

beforeAll(async () => {
  await useBackend('wasm');
  await fillSite(filled);
  cpSync(filled, finished, { recursive: true });
  await removeInSteps(finished);
  replaceInPart();
});

/** Records, answers and logs of a folder. */
async function describeSite(folder: string) {
  const memory = await openSite(folder);
  const found = [];
  for (const name of memory.indexNames) found.push(await memory.search(name, Float32Array.of(0.1, -0.7, 0.8), 20));
  const logs = await withLogs(memory, folder, async ({ curator, consolidator, retrievals, facts }) => [
    curator.entries(),
    consolidator.consolidations(),
    retrievals.events(),
    facts.versions(),
  ]);
  const records = [...memory.records()];
  const warnings = memory.warnings;
  await memory.close();
  return { records, found, logs, warnings };
}

test('a removal that was killed at any moment after it was decided is finished by the next opening', async () => {
  const expected = await describeSite(finished);
  expect(expected.records.map(({ id }) => id)).not.toContain(`${CANARY}-1`);
  expect([...moments.keys()]).toHaveLength(7);
  for (const [moment, folder] of moments) {
    expect(existsSync(join(folder, 'removal')), moment).toBe(true);
    const memory = await openSite(folder);
    expect(await countCanaries(folder), moment).toEqual({}); // before anything else is called
    await memory.close();
    expect(await describeSite(folder), moment).toEqual(expected);
    expect(readdirSync(folder), moment).not.toContain('removal');
  }
});

test('a removal that was killed before it was decided has removed nothing', async () => {
  const folder = join(root, 'undecided');
  cpSync(filled, folder, { recursive: true });
  const expected = await describeSite(folder);
  mkdirSync(join(folder, 'removal.partial', 'log-0'), { recursive: true });
  writeFileSync(join(folder, 'removal.partial', 'log-0', '0.journal'), CANARY);
  expect(await describeSite(folder)).toEqual(expected);
  expect(expected.records).toHaveLength(11);
  expect(readdirSync(folder)).not.toContain('removal.partial');
});

test('a memory that is read or repaired beside a decided removal', async () => {
  const [folder, repaired] = [join(root, 'read'), join(root, 'repaired')];
  cpSync(filled, folder, { recursive: true });
  const store = await openStore(folder);
  await stageRemoval(folder, { ids: new Set([`${CANARY}-1`]), versions: [] }, [], async () => {});
  await store.close();
  const reader = await openSite(folder, true);
  expect([reader.size, existsSync(join(folder, 'removal'))]).toEqual([11, true]); // a reader changes nothing
  await reader.close();
  expect((await repairStore(folder, repaired)).records).toBe(10);
  const memory = await openSite(repaired);
  expect([memory.get(`${CANARY}-1`), memory.dimension]).toEqual([null, DIMENSION]);
  await memory.close();
});

test('a plan that names a path outside its folder is refused', async () => {
  const folder = join(root, 'outside');
  cpSync(filled, folder, { recursive: true });
  mkdirSync(join(folder, 'removal'));
  for (const path of ['../filled', 'a/../../filled', '/etc']) {
    writeFileSync(join(folder, 'removal', 'plan.json'), JSON.stringify({ ids: [], logs: [{ path, files: [] }] }));
    await expect(openSite(folder)).rejects.toThrow(/a path within the folder/);
  }
});
