import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream';
import { Worker } from 'node:worker_threads';
import { createGunzip } from 'node:zlib';
import {
  type DecoderQuestion,
  type DecoderReply,
  type DecoderRequest,
  type DecoderTask,
  END_OF_LIMIT,
} from './decoder-messages.ts';

/** Bytes of one message. */
const BYTES = 2 ** 20;

const POLL_MILLISECONDS = 10;

/**
 * Ends the process at a limit, and with its parent. In a thread of its own, since a decoder computes for long without
 * returning to the event loop. The memory is that of the whole process: a limit of V8 leaves out the buffers. It tells
 * when it has looked once, so that a small file is not decoded before.
 */
const WATCH = `
  const { parentPort, workerData } = require('node:worker_threads');
  const { task, end, parent, poll } = workerData;
  const look = () => {
    const { user, system } = process.cpuUsage();
    if (process.memoryUsage.rss() > task.memoryBytes) process.kill(process.pid, end.memory);
    if ((user + system) / 1e6 > task.seconds || process.ppid !== parent) process.kill(process.pid, end.seconds);
  };
  look();
  setInterval(look, poll);
  parentPort.postMessage('looked');`;

const task = JSON.parse(process.argv[2] as string) as DecoderTask;
const reply = (message: DecoderReply) => process.send?.(message);

async function* unpack(): AsyncGenerator<Uint8Array> {
  // The error of either stream ends the iteration.
  yield* pipeline(
    createReadStream(task.path),
    createGunzip({ chunkSize: BYTES }),
    () => {},
  ) as AsyncIterable<Uint8Array>;
}

/** Bytes of zstd that are read at once: each three of them may unpack to 128 KiB. */
const ZSTD_BYTES = 2 ** 10;

async function* unpackZstd(): AsyncGenerator<Uint8Array> {
  const { Decompress } = await import('fzstd');
  const parts: Uint8Array[] = [];
  const stream = new Decompress((part) => void parts.push(part));
  for await (const chunk of createReadStream(task.path, { highWaterMark: ZSTD_BYTES })) {
    stream.push(chunk as Uint8Array);
    yield* parts.splice(0);
  }
  stream.push(new Uint8Array(), true);
  yield* parts;
}

/** Chunks of a stream put together, so that a message is not worth less than its costs. */
async function* join(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let waiting: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    waiting.push(chunk);
    length += chunk.length;
    if (length < BYTES) continue;
    yield Buffer.concat(waiting);
    [waiting, length] = [[], 0];
  }
  if (length > 0) yield Buffer.concat(waiting);
}

async function createAnswers(): Promise<(question: DecoderQuestion) => AsyncIterable<unknown>> {
  // Only one of them is needed, and each takes a while to load.
  let parquet: ReturnType<typeof import('./parquet-decoder.ts')['createParquetDecoder']> | undefined;
  let zip: ReturnType<typeof import('./zip-decoder.ts')['createZipDecoder']> | undefined;
  return async function* answer(question) {
    if (question.ask === 'gzip-bytes') yield* join(unpack());
    else if (question.ask === 'zstd-bytes') yield* join(unpackZstd());
    else if (question.ask.startsWith('zip')) {
      zip ??= (await import('./zip-decoder.ts')).createZipDecoder(task.path);
      yield* question.ask === 'zip-bytes' ? join(zip.bytes(question.entry)) : zip.entries();
    } else {
      parquet ??= (await import('./parquet-decoder.ts')).createParquetDecoder(task.path);
      yield* question.ask === 'parquet-rows' ? parquet.rows(question.columns, question.utf8) : parquet.shape();
    }
  };
}

async function serve(): Promise<void> {
  const watch = new Worker(WATCH, {
    ...{ eval: true, execArgv: [] },
    workerData: { task, end: END_OF_LIMIT, parent: process.ppid, poll: POLL_MILLISECONDS },
  });
  await new Promise((resolve) => watch.once('message', resolve));
  const answer = await createAnswers();
  let readNext = () => {};
  process.on('message', async (request: DecoderRequest) => {
    if ('next' in request) return readNext();
    try {
      let isRead = Promise.resolve();
      for await (const part of answer(request)) {
        await isRead;
        isRead = new Promise((resolve) => {
          readNext = resolve;
        });
        reply({ part });
      }
      await isRead;
      reply({ done: true });
    } catch (error) {
      reply({ error: error instanceof Error ? error.message : String(error) });
    }
  });
  process.on('disconnect', () => process.exit(0));
  reply({ ready: true });
}

void serve();
