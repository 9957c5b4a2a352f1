import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { StorageError, ValidationError } from '../errors/errors.ts';
import { LONGEST_LINE, readLines, splitLines, streamLines, type TextLine } from './text-lines.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-lines-'));
afterAll(() => rmSync(root, { recursive: true }));
const path = join(root, 'rows.jsonl');

async function* divide(bytes: Buffer, size: number) {
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
}

/** The lines by each of the three ways; they must agree. */
async function readAll(text: string, longest?: number): Promise<TextLine[]> {
  writeFileSync(path, text);
  const lines = [...readLines(path, { source: 'rows.jsonl', ...(longest === undefined ? {} : { longest }) })];
  for (const size of [1, 3, 7, 4096]) {
    const streamed: TextLine[] = [];
    for await (const line of streamLines(divide(Buffer.from(text), size), 'rows.jsonl', longest)) streamed.push(line);
    expect(streamed).toEqual(lines);
  }
  expect([...splitLines(text, 'rows.jsonl', longest)]).toEqual(lines);
  return lines;
}
const readTexts = async (text: string) => (await readAll(text)).map((line) => line.text);

describe('the lines of a file', () => {
  test('have numbers and places, with or without a last line feed', async () => {
    const expected = [
      { number: 1, where: 'rows.jsonl:1', text: 'a' },
      { number: 2, where: 'rows.jsonl:2', text: '' },
      { number: 3, where: 'rows.jsonl:3', text: 'é😀' },
    ];
    expect(await readAll('a\n\né😀')).toEqual(expected);
    expect(await readAll('a\n\né😀\n')).toEqual(expected);
    expect(await readAll('')).toEqual([]);
    expect(await readTexts('\n\n')).toEqual(['', '']);
  });

  test('have no carriage return at their ends and no byte order mark at their start', async () => {
    expect(await readTexts('\ufeffa\r\nb\rc\r\n\ufeffd\r')).toEqual(['a', 'b\rc', '\ufeffd']);
    expect(await readTexts('\ufeff')).toEqual(['']);
  });

  test('of a file of several chunks are those of its text', () => {
    const rows = Array.from({ length: 100_003 }, (_, i) => `row ${i} ${'é'.repeat(i % 31)}`);
    writeFileSync(path, rows.join('\n'));
    const read: number[] = [];
    const lines = readLines(path, { onRead: (bytes) => read.push(bytes) });
    expect(Array.from(lines, ({ text }) => text)).toEqual(rows);
    expect(read.length).toBeGreaterThan(2);
    expect(read.at(-1)).toBe(Buffer.byteLength(rows.join('\n')));
  });

  test('of a file that cannot be read are an error of storage', () => {
    expect(() => [...readLines(join(root, 'none'))]).toThrow(StorageError);
    expect(() => [...readLines(root)]).toThrow(StorageError);
  });
});

describe('a line that is too long', () => {
  test('is an error with its number, its length and what to do; one as long as the limit is read', async () => {
    expect(await readAll('ab\n1234567\n', 7)).toHaveLength(2);
    const [remedy, place] = ['end each row with a line feed, or divide the row', 'line at rows.jsonl:2 is too long'];
    writeFileSync(path, 'ab\n12345678\n');
    const readShort = () => [...readLines(path, { source: 'rows.jsonl', longest: 7 })];
    const splitShort = () => [...splitLines('ab\n12345678', 'rows.jsonl', 7)];
    for (const read of [readShort, splitShort]) expect(read).toThrow(ValidationError);
    expect(readShort).toThrow(`${place}: expected at most 7 bytes, got 8; ${remedy}`);
    expect(splitShort).toThrow(`${place}: expected at most 7 characters, got 8; ${remedy}`);
  });

  test('that has no end is given up at the limit: no more of it is asked for', async () => {
    let asked = 0;
    async function* endless() {
      yield Buffer.from('a\n');
      for (;;) {
        asked++;
        yield Buffer.alloc(10);
      }
    }
    const texts: string[] = [];
    const reading = (async () => {
      for await (const { text } of streamLines(endless(), 'a pipe', 95)) texts.push(text);
    })();
    await expect(reading).rejects.toThrow('line at a pipe:2 is too long: expected at most 95 bytes, got 100 or more');
    expect([texts, asked]).toEqual([['a'], 10]);
  });

  test('in a file larger than memory is refused by what is read of it', () => {
    writeFileSync(path, '{}\n');
    truncateSync(path, 2 ** 38); // zeros without a line feed, which take no space on the disk
    expect(() => [...readLines(path)]).toThrow(
      `rows.jsonl:2 is too long: expected at most ${LONGEST_LINE.toLocaleString('en-US')} bytes`,
    );
  });
});
