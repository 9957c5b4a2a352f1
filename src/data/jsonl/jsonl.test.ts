import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { StorageError, ValidationError } from '../../core/errors/errors.ts';
import { noteProgress } from '../../core/terminal/progress.harness.ts';
import { expectEventsLetIn } from '../../core/terminal/slow-progress.harness.ts';
import { describeDataset } from '../dataset-contract.harness.ts';
import { countUnknownTurns } from '../prepared/prepared.ts';
import { loadJsonl } from './jsonl.ts';

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true });
});

function write(turns: string, queries: string, qrels: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'jsonl-'));
  folders.push(folder);
  writeFileSync(join(folder, 'turns.jsonl'), turns);
  writeFileSync(join(folder, 'queries.jsonl'), queries);
  writeFileSync(join(folder, 'qrels.txt'), qrels);
  return folder;
}

const load = (path: string, onDirtyRow: 'error' | 'skip' = 'error') =>
  loadJsonl({ path, onDirtyRow, relevantGrade: 2 });

/** Reads the turns and queries of a folder with other judgements. */
const createReassigner = (folder: string) => (answers: ReadonlyMap<string, string>) => {
  const [turns, queries, qrels] = ['turns.jsonl', 'queries.jsonl', 'qrels.txt'].map((file) =>
    readFileSync(join(folder, file), 'utf8'),
  );
  const kept = (qrels as string).split('\n').filter((line) => !answers.has(line.split(' ')[0] as string));
  const rows = [...kept, ...[...answers].map(([queryId, turnId]) => `${queryId} 0 ${turnId} 2`)];
  return load(write(turns as string, queries as string, rows.join('\n')), 'skip');
};

describe('the example of the docs', () => {
  const docs = readFileSync(new URL('../../../docs/datasets/jsonl.md', import.meta.url), 'utf8');
  const [turns, queries] = [...docs.matchAll(/```jsonl\n([^`]+)```/g)].map(([, block]) => block as string);
  const [qrels, error] = [...docs.matchAll(/```text\n([^`]+)```/g)].map(([, block]) => block as string);
  const folder = write(turns as string, queries as string, qrels as string);

  describeDataset('jsonl', () => load(folder, 'skip'), { reassigned: createReassigner(folder) });

  it('reports its progress and lets events in', async () => {
    const { stages, progress } = noteProgress();
    const options = { path: folder, onDirtyRow: 'skip', relevantGrade: 2 } as const;
    await loadJsonl(options, { progress });
    expect(stages.map(([stage]) => stage)).toEqual([
      ...['turns.jsonl', 'queries.jsonl', 'qrels.txt'].map((file) => `bytes of ${file}`),
      'check the rows',
    ]);
    expect(stages.map(([, total, done]) => total - done)).toEqual([0, 0, 0, 1]); // the dirty row is not hashed
    await expectEventsLetIn((slow) => loadJsonl(options, { progress: slow }));
  });

  it('loads as it says, the dirty row skipped', async () => {
    const dataset = await load(folder, 'skip');
    expect(dataset.facts).toEqual({
      'skipped in turns.jsonl: before its parent': 1,
      'texts with undecodable characters': 0,
      messages: 4,
      conversations: 2,
      queries: 2,
      'queries, dev': 1,
      'queries, test': 1,
      judgements: 3,
    });
    expect(dataset.relevantGrade).toBe(2);
    expect(dataset.corpus.getTurn('a3')).toEqual({
      id: 'a3',
      conversationId: 'soup',
      parentId: 'a1',
      timestamp: Date.UTC(2024, 2, 1, 9, 7),
      author: 'bea',
      channel: 'kitchen',
      text: 'Red ones a quarter of an hour, green ones twice that.',
    });
    expect(dataset.queries.map(({ id, cluster, anchorTurnId }) => [id, cluster, anchorTurnId])).toEqual([
      ['q1', 'q1', null],
      ['q2', 'bread', 'b2'],
    ]);
    expect(Object.fromEntries(dataset.qrels.get('q1') ?? [])).toEqual({ a3: 2, a1: 1 });
  });

  it('stops with the error that it prints', async () => {
    await expect(load(folder)).rejects.toThrow((error as string).trim().replace('my-data', folder));
  });
});

const TURN = '{"id": "a", "conversationId": "c", "parentId": null, "timestamp": 1, "text": "eggs"}\n';
const QUERY = '{"id": "q", "text": "eggs", "timestamp": 2}\n';

const encodePartedQuery = (id: string, split: string) =>
  JSON.stringify({ id, text: 'eggs', timestamp: 2, conversationId: 'c', split });
const byQuery = write(
  TURN,
  `${encodePartedQuery('p', 'dev')}\n${encodePartedQuery('q', 'test')}\n`,
  'p 0 a 2\nq 0 a 1\n',
);
describeDataset('jsonl, parted by query', () => load(byQuery), {
  reassigned: createReassigner(byQuery),
  splitsConversations: false,
});

describe('loadJsonl', () => {
  it('names the faults of all three files in one error', async () => {
    const folder = write(`${TURN}${TURN}`, `${QUERY}${QUERY}`, 'q 0 a 1\nq 0 b 1\n');
    const error = await load(folder).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(ValidationError);
    expect((error as Error).message).toBe(
      `3 errors in ${folder}; correct and run again, or set onDirtyRow: skip:\n  turns.jsonl:2: duplicate id: a\n  queries.jsonl:2: duplicate id: q\n  qrels.txt:2: unknown turn: b`,
    );
  });

  it('counts judgements that name no turn where dirty rows are skipped', async () => {
    const { facts } = await load(write(TURN, QUERY, 'q 0 a 1\nq 0 b 1\nq 0 c 2\nx 0 a 1\n'), 'skip');
    expect(countUnknownTurns(facts)).toBe(2);
  });

  it.each([
    ['turn', '', QUERY],
    ['query', TURN, ''],
  ])('refuses a folder without a %s', async (what, turns, queries) => {
    await expect(load(write(turns, queries, ''), 'skip')).rejects.toThrow(`no ${what} in`);
  });

  it('counts texts with bytes that are no UTF-8, and refuses such ids', async () => {
    const encodeTurnLine = (id: string, text: string) =>
      `{"id": "${id}", "conversationId": "c", "parentId": null, "timestamp": 1, "text": "${text}"}\n`;
    const folder = write(
      `${encodeTurnLine('a', 'eggs')}${encodeTurnLine('b', 'egg?')}`,
      QUERY.replace('eggs', '\\ud83d'),
      'q 0 a 2\n',
    );
    const turns = join(folder, 'turns.jsonl');
    const withByte = (name: string) =>
      writeFileSync(
        turns,
        readFileSync(turns).map((byte) => (byte === name.charCodeAt(0) ? 0xff : byte)),
      );
    withByte('?');
    expect((await load(folder)).facts['texts with undecodable characters']).toBe(2);
    withByte('b');
    await expect(load(folder)).rejects.toThrow(
      'turns.jsonl:2: malformed row: id: expected an id of well-formed Unicode',
    );
  });

  it('takes ids that are members of every object', async () => {
    const ids = ['__proto__', 'constructor', 'toString'];
    const turns = ids.map((id, i) => ({
      id,
      conversationId: 'valueOf',
      parentId: ids[i - 1] ?? null,
      timestamp: i,
      text: id,
    }));
    const query = { id: 'hasOwnProperty', text: 'eggs', timestamp: 9, conversationId: 'valueOf', kind: '__proto__' };
    const folder = write(
      turns.map((turn) => `${JSON.stringify(turn)}\n`).join(''),
      JSON.stringify(query),
      'hasOwnProperty 0 __proto__ 2\n',
    );
    const { corpus, qrels, queries } = await load(folder);
    expect(corpus.turns.map(({ id, parentId }) => [id, parentId])).toEqual([
      ['__proto__', null],
      ['constructor', '__proto__'],
      ['toString', 'constructor'],
    ]);
    expect([...(qrels.get('hasOwnProperty') ?? [])]).toEqual([['__proto__', 2]]);
    expect(queries[0]?.cluster).toBe('valueOf');
  });

  it('says which files it has not, and which it needs', async () => {
    const folder = write(TURN, QUERY, '');
    rmSync(join(folder, 'qrels.txt'));
    const error = await load(folder, 'skip').catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(StorageError);
    expect((error as Error).message).toBe(
      `cannot read (no qrels.txt): ${folder}; name a folder with turns.jsonl, queries.jsonl, qrels.txt; see docs/datasets/jsonl.md`,
    );
  });

  it('has another hash for another content only', async () => {
    const hash = async (turns: string) => (await load(write(turns, QUERY, 'q 0 a 1\n'))).hash;
    expect(await hash(`${TURN}\n`)).toBe(await hash(TURN));
    expect(await hash(TURN.replace('eggs', 'milk'))).not.toBe(await hash(TURN));
  });

  it('reads attributes of turns and queries', async () => {
    const attributes = { outcome: 0.5, entities: ['Ann', 'Bo'], 'a key': 'é', done: false, size: 12 };
    const turn = JSON.stringify({ ...JSON.parse(TURN), attributes });
    const query = JSON.stringify({ ...JSON.parse(QUERY), attributes: { phase: 'late' } });
    const dataset = await load(write(turn, query, ''));
    expect(dataset.corpus.turns[0]?.attributes).toEqual(attributes);
    expect(dataset.queries[0]?.attributes).toEqual({ phase: 'late' });
    expect(dataset.declaration.features).toContain('attributes');
    const plain = await load(write(TURN, QUERY, ''));
    expect(plain.corpus.turns[0]).not.toHaveProperty('attributes');
    expect(plain.declaration.features).not.toContain('attributes');
    expect(plain.hash).not.toBe(dataset.hash);
  });

  it.each([
    [{ importance: 2 }, 'attributes.importance: expected number <= 1, got 2'],
    [{ entities: 'Ann' }, 'attributes.entities: expected array, got "Ann"'],
    [{ size: 2 ** 53 }, 'attributes.size: expected a whole number within 2^53 - 1; write a larger one as a string'],
    [{ channel: 'a' }, 'attributes.channel: expected a key of a key that is no field of a turn, got "channel"'],
    [
      { nothing: null },
      'attributes.nothing: expected a text, a finite number, if whole within 2^53 - 1, a boolean or a list of texts, got null',
    ],
  ])('refuses the attributes %j', async (attributes, message) => {
    const turn = JSON.stringify({ ...JSON.parse(TURN), attributes });
    await expect(load(write(turn, QUERY, ''))).rejects.toThrow(message);
  });
});
