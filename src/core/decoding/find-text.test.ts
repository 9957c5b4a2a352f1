import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { afterAll, expect, test, vi } from 'vitest';
import { StorageError, ValidationError } from '../errors/errors.ts';
import { findText, listTextForms } from './find-text.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-find-text-'));
afterAll(() => rmSync(root, { recursive: true }));
let folders = 0;

function makeFolder(files: Readonly<Record<string, string | Uint8Array>>): string {
  const folder = join(root, String(folders++));
  mkdirSync(join(folder, 'inner'), { recursive: true });
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  return folder;
}

const search = (folder: string, text: string) => findText(folder, listTextForms(text));
const TEXT = 'Zoë said: "no\n"';

test('a text is found in each form in which a file may have it, at its byte', async () => {
  const at3 = (bytes: Uint8Array | string) => Buffer.concat([Buffer.from('xyz'), Buffer.from(bytes)]);
  const json = JSON.stringify({ text: TEXT });
  const folder = makeFolder({
    utf8: at3(TEXT),
    utf16: at3(Buffer.from(TEXT, 'utf16le')),
    json: at3(json),
    'json-ascii': at3(json.replace('ë', '\\u00eb')),
    'json-twice': at3(JSON.stringify(json)),
    ...Object.fromEntries(
      [0, 1, 2].map((before) => [
        `base64-${before}`,
        at3(Buffer.from(`${'.'.repeat(before)}${TEXT} and more`).toString('base64')),
      ]),
    ),
    packed: gzipSync(at3(TEXT)),
    'inner/deep': at3(TEXT),
    other: 'Zoe said: "no"',
  });
  const { files, found, unread } = await search(folder, TEXT);
  expect([files, unread]).toEqual([11, []]);
  expect(found.map(({ path, form, offset }) => `${path} ${form} ${offset}`)).toEqual([
    'base64-0 base64 3',
    'base64-1 base64 5',
    'base64-2 base64 6',
    'inner/deep UTF-8 3',
    'json JSON 12',
    'json-ascii JSON 12',
    'json-twice JSON 16',
    'packed UTF-8 in gzip 3',
    'utf16 UTF-16LE 3',
    'utf8 UTF-8 3',
  ]);
});

test('a text across parts of a file is found once, and each of several that overlap', async () => {
  const part = 2 ** 16; // of a stream of Node
  const folder = makeFolder({
    across: `${'-'.repeat(part - 3)}canary${'-'.repeat(part)}canary`,
    overlapping: 'aXaXaXaXa',
  });
  const offsets = async (text: string) => (await search(folder, text)).found.map(({ offset }) => offset);
  expect(await offsets('canary')).toEqual([part - 3, 2 * part + 3]);
  expect(await offsets('aXaXa')).toEqual([0, 2, 4]);
  expect((await search(folder, 'canary')).bytes).toBe(2 * part + 9 + 9);
});

test('the name of a file counts; upper and lower case differ', async () => {
  const folder = makeFolder({ 'canary-7.txt': 'CANARY-7' });
  expect((await search(folder, 'canary-7')).found).toEqual([
    { path: 'canary-7.txt', form: 'UTF-8 in its name', offset: null },
  ]);
});

/** `zstd -19` of a text of 941 bytes with `canary-4711` at byte 512. */
const ZSTD = Buffer.from(
  [
    'KLUv/WStAp0HANKKHhGQfYwW5eQH7q6R7oSZy/XnHA6OGqQ8IqMg4sqHC3TIj6ISMYO8GqaoBxeG1f9RCfsuupqDc36cVNCf80YN',
    'Ut6k8WooMRQaEzqsfh+t2UFRjqfM9E0HKJ1TijLkEXHwpry79S5zR5dbXbGDZN7vy1Re6y9mB8Jvrc5XOaiBULjWn8IYYCQYQWkb',
    'ETQECAEGJETApOEO2I/zzcTIVdawdna2sQp5qBvyHN7KF9MFOo1372LxqQ/L0pDr6s1PK61Jl4/6HUn7xdQt/dNs7y8oMGxJkg4b',
    'X8U0F87eH1JOjRvbxfoJ5dB7d8KBNp8x+cyC1S767HM=',
  ].join(''),
  'base64',
);

test('content that zstd has compressed is searched, in every frame', async () => {
  const skipped = Buffer.of(0x50, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 7, 7);
  const folder = makeFolder({ 'one.zst': ZSTD, 'three.zst': Buffer.concat([ZSTD, skipped, ZSTD, ZSTD]) });
  expect((await search(folder, 'soup and bread')).found.length).toBeGreaterThan(4);
  const { found, unread } = await search(folder, 'canary-4711');
  expect(unread).toEqual([]);
  expect(found.map(({ path, form, offset }) => `${path} ${form} ${offset}`)).toEqual([
    'one.zst UTF-8 in zstd 512',
    'three.zst UTF-8 in zstd 512',
    'three.zst UTF-8 in zstd 1453',
    'three.zst UTF-8 in zstd 2394',
  ]);
});

test('the texts, bytes and names in rows of Parquet are searched', async () => {
  const rows = <T>(otherwise: T, at: Readonly<Record<number, T>>) =>
    Array.from({ length: 700 }, (_, row) => at[row] ?? otherwise);
  const columnData = [
    { name: 'text', data: rows('soup', { 2: 'canary', 3: '-4711', 300: 'the code canary-4711 of the safe' }) },
    { name: 'bytes', data: rows(new Uint8Array(), { 301: Buffer.from('canary-4711', 'utf16le') }), type: 'BYTE_ARRAY' },
    {
      name: 'json',
      data: rows<object>({}, { 302: { a: [{ 'canary-4711': 1 }] }, 303: ['canary-4711'] }),
      type: 'JSON',
    },
    { name: 'count', data: Array.from({ length: 700 }, (_, i) => i), type: 'INT32' },
  ] as const;
  const content = parquetWriteBuffer({ columnData: [...columnData], rowGroupSize: 300 } as never);
  const folder = makeFolder({ 'a.parquet': new Uint8Array(content), 'b.parquet': new Uint8Array(content) });
  const { found, unread } = await search(folder, 'canary-4711');
  expect(unread).toEqual([]);
  const inRows = found.filter(({ form, path }) => form.endsWith('parquet') && path === 'b.parquet');
  expect(inRows.map(({ form, offset }) => `${form} ${offset}`)).toEqual([
    'UTF-8 in row 301 of parquet null',
    'UTF-16LE in row 302 of parquet null',
    'UTF-8 in row 303 of parquet null',
    'UTF-8 in row 304 of parquet null',
  ]);
});

test('a file that unpacks for too long cannot be read', async () => {
  const window = 7 << 3; // 128 KiB, which each of the blocks of 4 bytes unpacks to
  const block = [(0b01 << 1) | (((2 ** 17) << 3) & 0xff), (((2 ** 17) << 3) >> 8) & 0xff, ((2 ** 17) << 3) >> 16, 0x41];
  const bomb = Buffer.concat([
    Buffer.of(0x28, 0xb5, 0x2f, 0xfd, 0, window),
    Buffer.alloc(block.length * 2 ** 16, Buffer.from(block)),
  ]);
  vi.stubEnv('RAGPP_DECODER_SECONDS', '0.3');
  const { unread } = await search(makeFolder({ bomb }), 'canary');
  vi.unstubAllEnvs();
  expect(unread).toEqual([{ path: 'bomb', reason: expect.stringContaining('it takes more than 0.3 seconds') }]);
});

test('what cannot be read is listed: links, other compression, damaged files', async () => {
  const folder = makeFolder({
    'a.parquet': 'PAR1 …',
    'b.zst': ZSTD.subarray(0, 200),
    'c.gz': gzipSync('canary').subarray(0, 12),
    'e.bz2': 'BZh9 …',
    'f.parquet': 'PARE …',
  });
  symlinkSync('/etc/hostname', join(folder, 'd'));
  const { unread, files } = await search(folder, 'canary');
  expect(files).toBe(5);
  expect(unread.map(({ path, reason }) => `${path}: ${reason}`)).toEqual([
    expect.stringMatching(/^a.parquet: parquet cannot be decoded \(/),
    'b.zst: zstd cannot be decoded (unexpected EOF)',
    'c.gz: gzip cannot be decoded (unexpected end of file)',
    'd: it is a link or no regular file',
    'e.bz2: its content is compressed (bzip2)',
    'f.parquet: its content is compressed (parquet, encrypted)',
  ]);
});

test('a missing folder and an empty text are errors', async () => {
  await expect(search(join(root, 'missing'), 'canary')).rejects.toThrow(StorageError);
  expect(() => listTextForms('')).toThrow(ValidationError);
});
