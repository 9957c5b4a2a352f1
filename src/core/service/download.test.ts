import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { ChecksumMismatchError, UnavailableError } from '../errors/errors.ts';
import { computeHash } from '../hash/hash.ts';
import { type DownloadOptions, downloadFile } from './download.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-download-'));
const folder = join(root, 'files');
const path = join(folder, 'weights.bin');
const content = Buffer.from(Array.from({ length: 70_001 }, (_, i) => i % 251));
const options: DownloadOptions = { user: 'model m', remedy: 'check the network', mostBytes: 100_000 };
const pinned = { ...options, sha256: computeHash(content) };

type Answer = (request: IncomingMessage, response: ServerResponse) => void;
const sendAll: Answer = (_, response) => {
  response.writeHead(200, { 'content-length': content.length });
  response.end(content);
};
const sendStatus =
  (status: number): Answer =>
  (_, response) =>
    void response.writeHead(status).end();
const breakOff: Answer = (_, response) => {
  response.writeHead(200, { 'content-length': content.length });
  response.write(content.subarray(0, 30_000), () => response.destroy());
};
/** The answer of a server that can begin anywhere. */
const sendRange: Answer = (request, response) => {
  const start = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? 'bytes=0-')?.[1]);
  const headers = { 'content-length': content.length - start };
  response.writeHead(start === 0 ? 200 : 206, headers);
  response.end(content.subarray(start));
};

/** One for each request; the last one for all that follow. */
let answers: Answer[] = [];
let ranges: (string | undefined)[] = [];
let server: Server;
let url: string;

beforeAll(async () => {
  server = createServer((request, response) => {
    ranges.push(request.headers.range);
    ((answers.length > 1 ? answers.shift() : answers[0]) as Answer)(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/weights.bin`;
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
  ranges = [];
});
afterAll(async () => {
  rmSync(root, { recursive: true });
  await new Promise((resolve) => server.close(resolve));
});

const fail = (given: DownloadOptions) =>
  downloadFile(url, path, given).then(
    () => null,
    (error: unknown) => error as Error,
  );

test('a file comes whole, and its bytes are reported', async () => {
  answers = [sendAll];
  const reported: (readonly [number, number | null])[] = [];
  expect(await downloadFile(url, path, { ...options, report: (...counts) => reported.push(counts) })).toBe(true);
  expect(readFileSync(path)).toEqual(content);
  expect(readdirSync(folder)).toEqual(['weights.bin']);
  expect(reported.at(-1)).toEqual([content.length, content.length]);
});

describe('an answer that breaks off', () => {
  test('goes on where it stopped, if the hash of the file is known', async () => {
    answers = [breakOff, sendStatus(503), sendRange];
    await downloadFile(url, path, pinned);
    expect(readFileSync(path)).toEqual(content);
    const [first, second, third] = ranges;
    expect(first).toBeUndefined();
    expect(second).toMatch(/^bytes=[1-9]\d*-$/);
    expect(third).toBe(second);
  });

  test('starts again without a hash, since the file may be another one by then', async () => {
    answers = [breakOff, sendRange];
    await downloadFile(url, path, options);
    expect(readFileSync(path)).toEqual(content);
    expect(ranges).toEqual([undefined, undefined]);
  });
});

describe('bytes of an earlier process', () => {
  const leave = async (bytes: Uint8Array) => {
    answers = [sendAll];
    await downloadFile(url, path, options);
    rmSync(path);
    writeFileSync(`${path}.partial`, bytes);
    ranges = [];
  };

  test.each([
    ['a server that can begin anywhere', sendRange],
    ['a server that begins at the start', sendAll],
  ])('are completed by %s', async (_, answer) => {
    await leave(content.subarray(0, 50_000));
    answers = [answer];
    await downloadFile(url, path, pinned);
    expect(ranges).toEqual(['bytes=50000-']);
    expect(readFileSync(path)).toEqual(content);
  });

  test('beyond the end of the file are thrown away', async () => {
    await leave(Buffer.concat([content, Buffer.of(1)]));
    answers = [sendStatus(416), sendRange];
    await downloadFile(url, path, pinned);
    expect(readFileSync(path)).toEqual(content);
  });

  test('of another file are an error, after which the next download starts again', async () => {
    await leave(Buffer.alloc(50_000));
    answers = [sendRange];
    const error = await fail(pinned);
    expect(error).toBeInstanceOf(ChecksumMismatchError);
    expect(error?.message).toMatch(
      /weights\.bin: its SHA-256 is [0-9a-f]{64}, expected [0-9a-f]{64}; check the network$/,
    );
    expect(readdirSync(folder)).toEqual([]);
    await downloadFile(url, path, pinned);
    expect(readFileSync(path)).toEqual(content);
  });
});

test('a file that is there is downloaded again, unless it has the hash', async () => {
  answers = [sendAll];
  await downloadFile(url, path, pinned);
  await downloadFile(url, path, pinned);
  expect(ranges).toHaveLength(1);
  writeFileSync(path, 'another file');
  await downloadFile(url, path, pinned);
  expect(readFileSync(path)).toEqual(content);
  await downloadFile(url, path, options);
  expect(ranges).toHaveLength(3);
});

test('a missing file is no error where it is not needed', async () => {
  answers = [sendStatus(404)];
  expect(await downloadFile(url, path, { ...options, isNeeded: false })).toBe(false);
  expect(existsSync(path)).toBe(false);
});

test.each([
  ['a missing file', [sendStatus(404)], options, 'status 404', 1],
  ['a file that may not be read', [sendStatus(403)], { ...options, isNeeded: false }, 'status 403', 1],
  [
    'a file that is too large',
    [sendAll],
    { ...options, mostBytes: 70_000 },
    'the answer has more than 70,000 bytes',
    1,
  ],
  ['a service that stays busy', [sendStatus(429)], options, 'status 429, after 4 attempts', 4],
])('%s is an error', async (_, given, more, reason, requests) => {
  answers = given;
  const error = await fail(more);
  expect(error).toBeInstanceOf(UnavailableError);
  expect(error?.message).toBe(`model m is not available: ${url}: ${reason}; check the network`);
  expect(ranges).toHaveLength(requests);
  expect(readdirSync(folder)).toEqual([]);
});
