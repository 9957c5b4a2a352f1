import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { BodyTooLargeError, readLimitedText } from './http-connection.ts';

const CHUNK = Buffer.alloc(997, 'é');
let closed: Promise<void>;
/** Answers the number of bytes in the path; without a number its answer has no end. */
const server = createServer((request, response) => {
  closed = new Promise((resolve) => response.on('close', resolve));
  const bytes = request.url === '/' ? Number.POSITIVE_INFINITY : Number(request.url?.slice(1));
  const send = (left: number): void => {
    if (response.destroyed) return;
    if (left <= 0) return void response.end();
    response.write(CHUNK.subarray(0, Math.min(left, CHUNK.length)), () => send(left - CHUNK.length));
  };
  send(bytes);
});
beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
afterAll(() => void server.close());
const ask = async (path: string) => {
  const { body } = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/${path}`);
  return body as NonNullable<typeof body>;
};

test('an answer as large as the limit is read whole, across its chunks', async () => {
  expect(await readLimitedText(await ask('3988'), 3988)).toBe(Buffer.concat(Array(4).fill(CHUNK)).toString());
  expect(await readLimitedText(await ask('0'), 3988)).toBe('');
});

test.each(['3989', ''])('a larger answer is given up, and its connection closed: %s', async (path) => {
  const reading = readLimitedText(await ask(path), 3988);
  await expect(reading).rejects.toThrow(new BodyTooLargeError(3988));
  await expect(reading).rejects.toThrow('the answer has more than 3,988 bytes');
  await closed;
});
