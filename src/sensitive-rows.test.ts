import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { readFiles } from './cli/actions/memory/read-files.ts';
import { RowFaults } from './data/jsonl/jsonl-rows.ts';
import { fromTurns, type QueryInput, type TurnInput } from './data/memory/from-turns.ts';
import { loadDataset } from './data/registry.ts';
import { readJudgementFile, readPool } from './lab/judging/judgement-file.ts';
import { readDocumentTexts, readQueryFile } from './lab/judging/query-file.ts';
import { openCurator } from './memory/curation/curator.ts';
import { openMemory } from './memory/engine/open-memory.ts';
import type { MemoryRecordInput } from './model/turns/turn.ts';
import { SECRET } from './sensitive.fixture.ts';

const root = mkdtempSync(join(tmpdir(), 'sensitive-rows-'));
afterAll(() => rmSync(root, { recursive: true }));

type Row = Record<string, unknown>;
const mark = { sensitive: true };
const query = { id: 'q', text: SECRET, timestamp: 9, attributes: mark };
/** A row of each kind, which is sensitive and whose texts hold the secret. */
const ROWS = {
  turn: { id: 't', conversationId: 'c', parentId: null, timestamp: 1, text: SECRET, attributes: mark },
  query,
  record: { id: 'r', context: SECRET, createdAt: 1, embedding: [1, 0], metadata: mark },
  pair: { query: 'q', queryText: SECRET, id: 't', text: SECRET, stratum: null, generator: 'ana', ...mark },
} as const satisfies Record<string, Row>;

/** What breaks a row, with the secret in the value that is wrong. */
const faults = fc.constantFrom<(row: Row) => unknown>(
  (row) => ({ ...row, id: `${SECRET} here` }),
  (row) => ({ ...row, timestamp: SECRET, createdAt: SECRET, query: [SECRET] }),
  (row) => ({ ...row, text: [SECRET], context: { of: SECRET } }),
  (row) => ({ ...row, text: 5, context: 5, note: { text: SECRET }, queryText: [SECRET] }),
  (row) => ({ ...row, attributes: { ...mark, importance: SECRET }, metadata: { ...mark, entities: SECRET } }),
  (row) => ({ ...row, attributes: JSON.stringify({ ...mark, about: SECRET }), metadata: `sensitive: true, ${SECRET}` }),
  (row) => ({ ...row, context: `${SECRET} \ud83d`, parentId: `${SECRET} \ud83d`, text: `${SECRET} \ud83d` }),
  (row) => [row],
  ({ sensitive: _, attributes: __, metadata: ___, ...row }) => ({ ...row, ...mark, grade: SECRET, outcome: SECRET }),
);
/** A line of a file: whole, or cut off, also before the mark. */
const lines = fc.record({ fault: faults, cut: fc.option(fc.integer({ min: 1, max: 200 }), { freq: 2 }) });

/** Everything that an error says, with its details. */
async function readMessage(work: () => unknown): Promise<string> {
  try {
    await work();
    return '';
  } catch (error) {
    const { message, stack } = error as Error;
    return [message, stack, JSON.stringify(error)].join('\n');
  }
}

/** What each reader says about a line of its kind. */
const FILE_READERS: Readonly<Record<string, { row: Row; read: (path: string) => unknown }>> = {
  turns: { row: ROWS.turn, read: () => loadDataset({ name: 'jsonl', path: root }, { cacheFolder: null }) },
  queries: { row: ROWS.query, read: () => loadDataset({ name: 'jsonl', path: root }, { cacheFolder: null }) },
  qrels: { row: ROWS.pair, read: () => loadDataset({ name: 'jsonl', path: root }, { cacheFolder: null }) },
  records: {
    row: ROWS.record,
    read: async (path) => {
      const found = new RowFaults();
      await readFiles([path], found);
      found.settle(path, 'error');
    },
  },
  pool: { row: ROWS.pair, read: readPool },
  judgements: { row: ROWS.pair, read: (path) => readJudgementFile(path, 'ana') },
  authored: { row: ROWS.query, read: readQueryFile },
  documents: { row: ROWS.turn, read: readDocumentTexts },
};
const formatLine = (row: unknown) => `${JSON.stringify(row)}\n`;

function writeFiles(name: string, line: string): string {
  const files: Record<string, string> = { turns: formatLine(ROWS.turn), queries: formatLine(query), qrels: '' };
  for (const [file, content] of Object.entries({ ...files, [name]: line }))
    writeFileSync(join(root, file === 'qrels' ? 'qrels.txt' : `${file}.jsonl`), content);
  return join(root, `${name}.jsonl`);
}

test.each(Object.entries(FILE_READERS))(
  'no message about %s that cannot be read quotes a sensitive row',
  async (name, { row, read }) => {
    let said = 0;
    await fc.assert(
      fc.asyncProperty(lines, async ({ fault, cut }) => {
        const line = JSON.stringify(fault(row));
        const path = writeFiles(name, cut === null ? line : line.slice(0, cut));
        const message = await readMessage(() => read(path));
        expect(message).not.toContain(SECRET);
        if (message !== '') said++;
      }),
      { numRuns: 40, seed: 17 },
    );
    expect(said).toBeGreaterThan(20);
  },
);

test('no message of a program about rows in memory quotes a sensitive row', async () => {
  let said = 0;
  const memory = await openMemory({ dimension: 2 });
  const curator = await openCurator(memory, join(root, 'log'));
  await fc.assert(
    fc.asyncProperty(faults, async (fault) => {
      const record = {
        ...(fault(ROWS.record) as Row),
        id: 'r', // which messages show
        embedding: Float32Array.of(1, 0),
      } as unknown as MemoryRecordInput;
      for (const work of [
        () => fromTurns([fault(ROWS.turn) as TurnInput], [query as QueryInput], {}),
        () => fromTurns([ROWS.turn], [fault(query) as QueryInput], {}),
        () => memory.addBatch([record]),
        () => memory.upsert([record]),
        () => curator.curate(record),
      ]) {
        const message = await readMessage(work);
        expect(message).not.toContain(SECRET);
        if (message !== '') said++;
      }
    }),
    { numRuns: 20, seed: 17 },
  );
  expect(said).toBeGreaterThan(60);
  await curator.close();
  await memory.close();
});

test('a message quotes the value of a row that is not sensitive', async () => {
  const { attributes: _, ...plain } = ROWS.turn;
  for (const attributes of [undefined, { sensitive: false }]) {
    writeFiles('turns', formatLine({ ...plain, attributes, timestamp: 'noon' }));
    expect(await readMessage(() => FILE_READERS.turns?.read(root))).toContain('got "noon"');
  }
  writeFiles('turns', formatLine({ ...ROWS.turn, timestamp: 'noon' }));
  expect(await readMessage(() => FILE_READERS.turns?.read(root))).toContain(
    'or in milliseconds since 1970, got a value that is not shown, since the row may be sensitive',
  );
});
