import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { LARGEST_FILE } from '../../core/decoding/zip-archive.ts';
import { StorageError, ValidationError } from '../../core/errors/errors.ts';
import { type ExportFiles, findExportFiles, readExport, readJson } from './export-files.ts';
import { writeZip } from './zip.fixture.ts';

const root = mkdtempSync(join(tmpdir(), 'export-'));
afterAll(() => rmSync(root, { recursive: true }));

function write(name: string, content: string | Uint8Array): string {
  const path = join(root, name);
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, content);
  return path;
}

const listNames = async ({ files }: ExportFiles) => files.map(({ name }) => name);
const readAll = (files: ExportFiles) => Promise.all(files.files.map((file) => file.readText()));

describe('an export is read where it is', () => {
  const entries = [
    { name: 'my-export/', content: '' },
    { name: 'my-export/users.json', content: '[1]', stored: true },
    { name: 'my-export/chat/naïve 😀.json', content: '{"soup": "lentils"}' },
  ];

  it('in a zip file, compressed or not, folders passed over', async () => {
    const path = write('a.ZIP', writeZip(entries));
    expect(await readExport(path, listNames)).toEqual(['my-export/chat/naïve 😀.json', 'my-export/users.json']);
    expect(await readExport(path, readAll)).toEqual(['{"soup": "lentils"}', '[1]']);
  });

  it('in a zip file whose name has another ending', async () => {
    const path = write('export', writeZip(entries));
    expect(await readExport(path, readAll)).toEqual(['{"soup": "lentils"}', '[1]']);
  });

  it('with names in UTF-8 that no flag announces, and with names that are no UTF-8', async () => {
    const names = [Buffer.from('カフェ/a.json'), Uint8Array.of(0x82, 0x2e, 0x6a)];
    const path = write('names.zip', writeZip(names.map((name) => ({ name, content: '1' }))));
    expect(await readExport(path, listNames)).toEqual(['é.j', 'カフェ/a.json']);
  });

  it('in a folder', async () => {
    for (const { name, content } of entries.slice(1)) write(`folder/${name}`, content);
    const path = join(root, 'folder');
    expect(await readExport(path, async (files) => listNames(files))).toEqual(
      expect.arrayContaining(['my-export/chat/naïve 😀.json', 'my-export/users.json']),
    );
    const [found] = await readExport(path, async (files) => findExportFiles(files, /^users\.json$/, 'users.json'));
    expect(await found?.readText()).toBe('[1]');
  });

  it('as one file, whatever its name', async () => {
    const path = write('renamed.txt', '[2]');
    const found = await readExport(path, async (files) => findExportFiles(files, /^users\.json$/, 'users.json'));
    expect(found.map(({ name }) => name)).toEqual(['renamed.txt']);
  });

  it('takes the files nearest to the top', async () => {
    const path = write(
      'deep.zip',
      writeZip([
        { name: 'x/a-1.json', content: '1' },
        { name: 'x/a-2.json', content: '2' },
        { name: 'x/old/a-3.json', content: '3' },
      ]),
    );
    const found = await readExport(path, async (files) => findExportFiles(files, /^a-\d\.json$/, 'a-1.json'));
    expect(found.map(({ name }) => name)).toEqual(['x/a-1.json', 'x/a-2.json']);
  });
});

const entry = (content: string | Uint8Array, stated = {}) => writeZip([{ name: 'a/b.json', content, stated }]);
const flipLast = (zip: Buffer, text: string) => {
  zip[zip.indexOf(text)] = 0x58;
  return zip;
};

describe('what cannot be read is named, with the entry', () => {
  it.each<[string, string, Uint8Array, RegExp]>([
    ['no zip', 'no.zip', Buffer.from('nothing'), /cannot unpack \(.+\): \S+no\.zip; check/],
    ['a cut zip', 'cut.zip', entry('[1]').subarray(0, -30), /cannot unpack \(.+\): \S+cut\.zip; check/],
    ['another checksum', 'crc.zip', entry('[1]', { crc: 7 }), /checksum is another one\): \S+crc\.zip\/a\/b\.json;/],
    [
      'a flipped bit of a stored entry',
      'flipped.zip',
      flipLast(writeZip([{ name: 'a.json', content: '["soup"]', stored: true }]), 'soup'),
      /checksum is another one\): \S+flipped\.zip\/a\.json; check that the path exists, or download/,
    ],
    ['more bytes than stated', 'more.zip', entry('[1234567]', { size: 3 }), /cannot unpack \(.+\): \S+b\.json;/],
    ['fewer bytes than stated', 'fewer.zip', entry('[1234567]', { size: 30 }), /cannot unpack \(.+\): \S+b\.json;/],
    [
      'another method',
      'method.zip',
      writeZip([{ name: 'a.json', content: '[1]', method: 9 }]),
      /cannot unpack \(compression method 9\): \S+method\.zip\/a\.json; unpack the archive yourself and name the folder$/,
    ],
    [
      'a password',
      'password.zip',
      writeZip([{ name: 'a.json', content: '[1]', encrypted: true }]),
      /cannot unpack \(encrypted\): \S+password\.zip\/a\.json; unpack the archive yourself and name the folder$/,
    ],
    [
      'two entries of one name',
      'twice.zip',
      writeZip([
        { name: 'a.json', content: '[1]' },
        { name: 'a.json', content: '[2]' },
      ]),
      /cannot unpack \(the archive has several entries of this name\): \S+twice\.zip\/a\.json; download the file again/,
    ],
    [
      'a bomb',
      'bomb.zip',
      entry(new Uint8Array(2 ** 24 + 1)),
      /cannot unpack \(17 MiB from 1 MiB\): \S+bomb\.zip\/a\/b\.json; unpack the archive yourself/,
    ],
    [
      'an entry longer than a text',
      'long.zip',
      entry('[1]', { size: LARGEST_FILE + 1 }),
      /cannot read \(501 MiB, where at most 500 MiB are read\): \S+long\.zip\/a\/b\.json; split the file/,
    ],
  ])('%s', async (_, name, content, message) => {
    const error = await readExport(write(name, content), readAll).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(StorageError);
    expect((error as Error).message).toMatch(message);
  });

  it('a file longer than a text', async () => {
    const path = write('long.json', '[');
    truncateSync(path, LARGEST_FILE + 1); // a hole, not bytes on the disk
    await expect(readExport(path, readAll)).rejects.toThrow(/cannot read \(501 MiB, .+long\.json; split the file/);
  });

  it('a path that leads nowhere', async () => {
    await expect(readExport(join(root, 'none.zip'), readAll)).rejects.toThrow(/cannot read .+none\.zip/);
  });

  it('an archive without the file', async () => {
    const act = readExport(write('other.zip', entry('[1]')), async (files) =>
      findExportFiles(files, /^users\.json$/, 'users.json'),
    );
    await expect(act).rejects.toThrow(
      /^no users\.json in: \S+other\.zip; name the zip file or the folder of an export$/,
    );
  });
});

describe('readJson', () => {
  const read = (content: string) =>
    readExport(write('a.json', content), async ({ files: [file] }) =>
      readJson(file as NonNullable<typeof file>, z.array(z.number()), 'the numbers'),
    );

  it('gives the value of the schema', async () => {
    expect(await read('\ufeff[1, 2]')).toEqual([1, 2]);
  });

  it.each([
    ['[1', /a\.json: not JSON: \[1; name the numbers$/],
    ['\n', /a\.json: not JSON: an empty file; name the numbers$/],
    ['["a"]', /a\.json: \[0\]: expected number, got "a"; name the numbers$/],
    ['['.repeat(300), /a\.json: nested 300 deep, where at most 256 is read; name the numbers$/],
  ])('names the file and what is wrong: %s', async (content, message) => {
    const error = await read(content).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(ValidationError);
    expect((error as Error).message).toMatch(message);
  });
});
