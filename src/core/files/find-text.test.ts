import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, expect, test } from 'vitest';
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

test('what cannot be read is listed: links, other compression, damaged gzip', async () => {
  const folder = makeFolder({
    'a.parquet': 'PAR1 …',
    'b.zst': Buffer.of(0x28, 0xb5, 0x2f, 0xfd, 0),
    'c.gz': gzipSync('canary').subarray(0, 12),
  });
  symlinkSync('/etc/hostname', join(folder, 'd'));
  const { unread, files } = await search(folder, 'canary');
  expect(files).toBe(3);
  expect(unread.map(({ path, reason }) => `${path}: ${reason}`)).toEqual([
    'a.parquet: its content is compressed (parquet)',
    'b.zst: its content is compressed (zstd)',
    'c.gz: gzip cannot decompress it (unexpected end of file)',
    'd: it is a link or no regular file',
  ]);
});

test('a missing folder and an empty text are errors', async () => {
  await expect(search(join(root, 'missing'), 'canary')).rejects.toThrow(StorageError);
  expect(() => listTextForms('')).toThrow(ValidationError);
});
