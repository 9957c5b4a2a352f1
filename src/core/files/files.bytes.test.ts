import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, expect, test } from 'vitest';
import { StorageError } from '../errors/errors.ts';
import { createRandom } from '../numbers/random.ts';
import { type ReadBytes, readFileBytes } from './files.ts';

const root = mkdtempSync(join(tmpdir(), 'file-bytes-'));
afterAll(() => rmSync(root, { recursive: true }));

function write(name: string, content: string | Uint8Array): string {
  const path = join(root, name);
  writeFileSync(path, content);
  return path;
}

function readAll(read: ReadBytes, room: number): Buffer {
  const parts: Buffer[] = [];
  for (;;) {
    const part = Buffer.alloc(room);
    const length = read(part);
    if (length === 0) return Buffer.concat(parts);
    parts.push(part.subarray(0, length));
  }
}

const random = createRandom(1, 'file bytes');
const content = Buffer.from(Array.from({ length: 700_000 }, () => random.integer(256)));

test.each(['plain', 'gzip', 'two members of gzip'])('the bytes of a %s file come in order', (kind) => {
  const halves = [content.subarray(0, 300_007), content.subarray(300_007)];
  const packed =
    { plain: content, gzip: gzipSync(content) }[kind] ?? Buffer.concat(halves.map((half) => gzipSync(half)));
  const path = write('some', packed);
  for (const room of [1009, 2 ** 20]) {
    expect(readFileBytes(path, (read) => readAll(read, room).equals(content))).toBe(true);
    const ends = readFileBytes(path, (read) => [
      readAll(read, room).length,
      read(Buffer.alloc(1)),
      read(Buffer.alloc(1)),
    ]);
    expect(ends).toEqual([content.length, 0, 0]);
  }
});

test('a reader may stop, or fail, before the end', () => {
  for (const bytes of [content, gzipSync(content)]) {
    const path = write('half', bytes);
    expect(readFileBytes(path, (read) => read(Buffer.alloc(7)))).toBe(7);
    const fail = () => {
      throw new RangeError('of the reader');
    };
    expect(() => readFileBytes(path, fail)).toThrow(new RangeError('of the reader'));
  }
});

test.each([
  ['empty', ''],
  ['one byte', '\u001f'],
])('a file of %s is no file of gzip', (_, bytes) => {
  expect(readFileBytes(write('short', bytes), (read) => readAll(read, 5).toString())).toBe(bytes);
});

test('what is not a regular file is read from its first byte', () => {
  const pipe = join(root, 'pipe');
  execFileSync('mkfifo', [pipe]);
  execFileSync('sh', ['-c', `(printf 'a b' > ${pipe}) > /dev/null 2>&1 &`]);
  expect(readFileBytes(pipe, (read) => readAll(read, 2).toString())).toBe('a b');
});

test.each([
  ['none', null, /^cannot read \(ENOENT.*\): .*none; check that the path exists/],
  [
    'cut',
    gzipSync(content).subarray(0, 500),
    /^cannot unpack \(unexpected end of file\): .*cut; check that the file is whole/,
  ],
  ['false', Buffer.from([0x1f, 0x8b, 9, 9]), /^cannot unpack \(.*\): .*false; check that the file is whole/],
  [
    'bomb',
    gzipSync(Buffer.alloc(2 ** 25, 32)),
    /^cannot unpack \(\d+ MiB from 1 MiB\): .*bomb; unpack the archive yourself/,
  ],
])('an error names the file: %s', (name, bytes, message) => {
  const path = bytes === null ? join(root, name) : write(name, bytes);
  const read = () => readFileBytes(path, (next) => readAll(next, 2 ** 16));
  expect(read).toThrow(StorageError);
  expect(read).toThrow(message);
});
