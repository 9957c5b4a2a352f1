import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { queryRow, RowFaults, readQrels, readRows, turnRow } from './jsonl-rows.ts';

const folder = mkdtempSync(join(tmpdir(), 'rows-'));
afterAll(() => rmSync(folder, { recursive: true }));

function read(content: string, schema: typeof turnRow | typeof queryRow = turnRow) {
  writeFileSync(join(folder, 'x.jsonl'), content);
  const faults = new RowFaults();
  return { placed: readRows(folder, 'x.jsonl', schema, faults), faults: faults.list };
}

const ROW = { id: 'a', conversationId: 'c', parentId: null, timestamp: 7, text: 'eggs' };

describe('readRows', () => {
  it('fills in what may be absent and tells the line, empty ones passed over', () => {
    expect(read(`\ufeff\r\n${JSON.stringify(ROW)}\r\n\n`)).toEqual({
      placed: [{ where: 'x.jsonl:2', row: { ...ROW, author: null, channel: null } }],
      faults: [],
    });
  });

  it('names the key that an unknown one stands for', () => {
    const row = { id: 'a', conversation_id: 'c', parent: null, time: 7, text: 'eggs' };
    const [fault] = read(JSON.stringify(row)).faults;
    for (const [unknown, known] of Object.entries({
      conversation_id: 'conversationId',
      parent: 'parentId',
      time: 'timestamp',
    }))
      expect(fault?.detail).toContain(`got unknown key "${unknown}" (did you mean ${known}?)`);
  });

  it('makes the text of a fact or a procedure of its fields', () => {
    const { text: _, ...row } = ROW;
    const fact = { memoryType: 'semantic', subject: 'Acme', predicate: 'prefers', object: 'NET30' };
    const readText = (attributes: object) => read(JSON.stringify({ ...row, attributes }));
    expect(readText(fact).placed[0]?.row.text).toBe('Acme prefers NET30');
    expect(readText({ memoryType: 'procedural', trigger: 'rain', action: 'go in' }).placed[0]?.row.text).toBe(
      'rain: go in',
    );
    expect(readText({ memoryType: 'episodic' }).faults).toHaveLength(1);
    expect(readText({ ...fact, object: 5 }).faults).toHaveLength(1);
  });

  it.each([
    ['2024-03-01T09:00:00Z', Date.UTC(2024, 2, 1, 9)],
    ['2024-03-01T09:00:00.250+01:00', Date.UTC(2024, 2, 1, 8, 0, 0, 250)],
    [-5, -5],
  ])('reads the time %s', (timestamp, expected) => {
    expect(read(JSON.stringify({ ...ROW, timestamp })).placed[0]?.row.timestamp).toBe(expected);
  });

  const TIME = 'timestamp: expected a time in ISO 8601 with a zone, or in milliseconds since 1970';
  it.each([
    ['{"id": ', 'not JSON', 'a text of length 7'],
    ['[1]', 'malformed row', '(top level): expected object, got [1]'],
    [JSON.stringify({ ...ROW, text: ' \n' }), 'malformed row', 'text: expected a text that is not empty, got " \\n"'],
    [JSON.stringify({ ...ROW, id: 'a b' }), 'malformed row', 'id: expected an id without spaces, got "a b"'],
    [
      JSON.stringify({ ...ROW, parentId: 'a\ud83d' }),
      'malformed row',
      'parentId: expected an id of well-formed Unicode, got "a\\ud83d"',
    ],
    [
      `{"text": ${'['.repeat(5000)}${']'.repeat(5000)}}`,
      'malformed row',
      'nested 5001 deep, where at most 256 is read',
    ],
    [
      JSON.stringify({ ...ROW, timestamp: '2024-03-01T09:00:00' }),
      'malformed row',
      `${TIME}, got "2024-03-01T09:00:00"`,
    ],
    [
      JSON.stringify({ ...ROW, timestamp: 1.7e18 }), // nanoseconds
      'malformed row',
      `${TIME}, got 1700000000000000000`,
    ],
    [JSON.stringify(ROW).replace('7', '1e999'), 'malformed row', `${TIME}, got Infinity`],
    [
      JSON.stringify({ ...ROW, parent: 'r' }),
      'malformed row',
      'parent: expected one of id, conversationId, parentId, timestamp, author, channel, text, attributes, got unknown key "parent" (did you mean parentId?)',
    ],
    [
      JSON.stringify({ id: 'a', conversationId: 'c', parentId: null }),
      'malformed row',
      `${TIME}, got nothing; text: expected string, got nothing`,
    ],
  ])('names the line and all that is wrong with %s', (line, kind, detail) => {
    const { placed, faults } = read(`${JSON.stringify(ROW)}\n${line}\n`);
    expect(placed.length).toBe(1);
    expect(faults).toEqual([{ where: 'x.jsonl:2', kind, detail }]);
  });

  it('knows the fields of queries', () => {
    const full = { id: 'q', text: 'eggs', timestamp: 7, split: 'dev', anchorTurnId: 'a', cluster: 'c' };
    expect(read(JSON.stringify(full), queryRow).placed[0]?.row).toEqual({ ...full, author: null, channel: null });
    expect(read(JSON.stringify({ ...full, split: 'train' }), queryRow).faults[0]?.detail).toBe(
      'split: expected "dev" or "test", got "train"',
    );
  });
});

describe('readQrels', () => {
  it('reads judgements and names what is none', () => {
    writeFileSync(join(folder, 'qrels.txt'), 'q 0 a 2\n\nq\t0\tb\t-1\r\nq 0 a b c\nq 0 c high\n');
    const faults = new RowFaults();
    expect(readQrels(folder, 'qrels.txt', faults)).toEqual([
      { where: 'qrels.txt:1', row: { queryId: 'q', turnId: 'a', grade: 2 } },
      { where: 'qrels.txt:3', row: { queryId: 'q', turnId: 'b', grade: -1 } },
    ]);
    expect(faults.list.map(({ where, detail }) => [where, detail])).toEqual([
      ['qrels.txt:4', 'expected query 0 turn grade, got q 0 a b c'],
      ['qrels.txt:5', 'expected query 0 turn grade, got q 0 c high'],
    ]);
  });
});
