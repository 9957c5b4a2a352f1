import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import { ConfigurationError, StorageError } from '../errors/errors.ts';
import { createRandom } from '../numbers/random.ts';
import { Decoder, openParquet, unpackGzip } from './decoder.ts';

const root = mkdtempSync(join(tmpdir(), 'decoder-'));
afterAll(() => rmSync(root, { recursive: true }));
afterEach(() => vi.unstubAllEnvs());

function write(name: string, content: string | Uint8Array): string {
  const path = join(root, name);
  writeFileSync(path, content);
  return path;
}

/** Rows of several messages. */
const ROWS = 1500;
const table = (rows = ROWS) =>
  new Uint8Array(
    parquetWriteBuffer({
      columnData: [
        { name: 'id', data: Array.from({ length: rows }, (_, i) => `r${i}`), type: 'STRING' },
        { name: 'count', data: BigInt64Array.from({ length: rows }, (_, i) => BigInt(i)), type: 'INT64' },
        { name: 'time', data: Array.from({ length: rows }, (_, i) => new Date(1000 * i)), type: 'TIMESTAMP' },
      ],
      rowGroupSize: 700,
    }),
  );

async function collect<T>(parts: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const part of parts) all.push(part);
  return all;
}

describe('a file is decoded in a process of its own', () => {
  test('with the values, whole numbers and times of Parquet as they are, a few rows at a time', async () => {
    const file = await openParquet(write('a.parquet', table()), { columns: ['id', 'count', 'time'] });
    expect([file.rowCount, file.columns.slice(1)]).toEqual([ROWS, ['id', 'count', 'time']]);
    const batches = await collect(file.readBatches());
    await file.close();
    expect(Math.max(...batches.map(({ length }) => length))).toBe(256);
    const rows = batches.flat();
    expect(rows).toHaveLength(ROWS);
    expect(rows[1234]).toEqual({ id: 'r1234', count: 1234n, time: new Date(1_234_000) });
  });

  test('and gives all bytes of a gzip file', async () => {
    const content = Buffer.from(Array.from({ length: 400_000 }, (_, i) => `line ${i}\n`).join(''));
    const parts = await collect(unpackGzip(write('a.gz', gzipSync(content))));
    expect(parts.length).toBeGreaterThan(2);
    expect(Buffer.concat(parts).equals(content)).toBe(true);
  });

  test('that ends when nobody reads on', async () => {
    const file = await openParquet(write('b.parquet', table()));
    for await (const batch of file.readBatches()) if (batch.length > 0) break;
    await expect(collect(file.readBatches())).rejects.toThrow(
      /decoder of \S+b\.parquet has ended; open the file again/,
    );
  });
});

describe('a limit ends the process, and is an error that names the file and the variable', () => {
  const noise = () =>
    gzipSync(Buffer.from(Array.from({ length: 2 ** 20 }, (_, i) => (i * i * 7919) % 251)), { level: 1 });

  test('of memory', async () => {
    vi.stubEnv('RAGPP_DECODER_MIB', '40'); // less than Node itself needs
    const act = collect(unpackGzip(write('m.gz', noise())));
    await expect(act).rejects.toThrow(/more than 40 MiB of memory\): \S+m\.gz; .*set RAGPP_DECODER_MIB higher/);
    await expect(act).rejects.toThrow(StorageError);
  });

  test.each([
    ['before a small file is decoded', '0.001', 1], // Node itself needs more
    ['while a large one is', '0.5', 1024], // 1 GiB takes seconds
  ])('of time, %s', async (_, seconds, copies) => {
    vi.stubEnv('RAGPP_DECODER_SECONDS', seconds);
    vi.stubEnv('RAGPP_DECODER_MIB', '2048');
    const random = createRandom(7, 'decoder');
    const drawn = Buffer.from(Array.from({ length: 2 ** 13 }, () => random.integer(256))); // below the limit of the ratio
    const member = gzipSync(Buffer.concat([Buffer.alloc(2 ** 20), drawn]));
    const path = write('t.gz', Buffer.concat(Array.from({ length: copies }, () => member)));
    const act = (async () => {
      for await (const part of unpackGzip(path)) expect(part.length).toBeGreaterThan(0);
    })();
    const message = `more than ${seconds} seconds\\): \\S+t\\.gz; .*set RAGPP_DECODER_SECONDS higher`;
    await expect(act).rejects.toThrow(new RegExp(message));
  });

  test.each(['0', '-1', 'much', 'Infinity'])('that is no number above 0 is an error: %s', async (limit) => {
    vi.stubEnv('RAGPP_DECODER_MIB', limit);
    await expect(Decoder.open(write('c.gz', noise()))).rejects.toThrow(ConfigurationError);
  });
});

test('what is no file is not opened', async () => {
  await expect(Decoder.open(root)).rejects.toThrow('not a regular file');
});
