import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { totalmem } from 'node:os';
import { findProgram } from '../code/package-root.ts';
import { ConfigurationError, ProcessDiedError, StorageError } from '../errors/errors.ts';
import { assertUnpackedSize } from '../files/files.ts';
import {
  type DecoderParts,
  type DecoderQuestion,
  type DecoderReply,
  type DecoderRequest,
  type DecoderTask,
  END_OF_LIMIT,
  type ParquetShape,
} from './decoder-messages.ts';

const MEBIBYTE = 2 ** 20;

/** Limits, and what each MiB of a file adds: text unpacks to a few times its size, and values hold more. */
const [LEAST_MIB, MIB_FOR_EACH_MIB] = [256, 16];
const [LEAST_SECONDS, SECONDS_FOR_EACH_MIB] = [5, 2];

/** Variables that replace the limits, for a file that is trusted. */
const [MEMORY_VARIABLE, SECONDS_VARIABLE] = ['RAGPP_DECODER_MIB', 'RAGPP_DECODER_SECONDS'];

/** V8 ends a process when its heap is full, by SIGABRT, which a shell reports as 134. */
const [HEAP_SIGNAL, HEAP_CODE] = ['SIGABRT', 134];

function readLimit(variable: string, otherwise: number): number {
  const text = process.env[variable];
  if (text === undefined || text === '') return otherwise;
  const limit = Number(text);
  if (limit > 0 && Number.isFinite(limit)) return limit;
  throw new ConfigurationError(variable, [{ path: variable, expected: 'a number above 0', got: JSON.stringify(text) }]);
}

function chooseLimits(path: string): DecoderTask {
  const stats = statSync(path);
  if (!stats.isFile()) throw new Error('it is not a regular file');
  const mib = stats.size / MEBIBYTE;
  const most = Math.max(LEAST_MIB, totalmem() / MEBIBYTE / 2);
  const memory = readLimit(MEMORY_VARIABLE, Math.min(most, LEAST_MIB + MIB_FOR_EACH_MIB * mib));
  const seconds = readLimit(SECONDS_VARIABLE, Math.ceil(LEAST_SECONDS + SECONDS_FOR_EACH_MIB * mib));
  return { path, memoryBytes: Math.ceil(memory * MEBIBYTE), seconds };
}

/**
 * A foreign file that is decoded in a process of its own, with limits of memory and of time of the processor: the
 * libraries that decode Parquet, zip and gzip allocate what a file states. Ask one question at a time.
 */
export class Decoder {
  readonly #child: ChildProcess;
  readonly #task: DecoderTask;
  #isEnded = false;
  #settle: (outcome: DecoderReply | Error) => void = () => {};

  private constructor(task: DecoderTask) {
    this.#task = task;
    const { main, nodeOptions } = findProgram('core/decoding/decoder-process');
    this.#child = fork(main, [JSON.stringify(task)], {
      execArgv: [`--max-old-space-size=${Math.ceil(task.memoryBytes / MEBIBYTE)}`, ...nodeOptions],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    this.#child.on('message', (reply: DecoderReply) => this.#settle(reply));
    this.#child.on('error', (error) => this.#settle(error));
    this.#child.once('exit', (code, signal) => {
      this.#isEnded = true;
      this.#settle(this.#createEndError(code, signal));
    });
  }

  /**
   * Starts a process for a file.
   *
   * @throws the system's error for a path that cannot be read; ConfigurationError for a wrong limit.
   */
  static async open(path: string): Promise<Decoder> {
    const decoder = new Decoder(chooseLimits(path));
    await decoder.#read(() => {});
    return decoder;
  }

  #createEndError(code: number | null, signal: NodeJS.Signals | null): Error {
    const { path, memoryBytes, seconds } = this.#task;
    const refuse = (most: string, variable: string) =>
      new StorageError('decode', path, {
        cause: new Error(`it takes more than ${most}`),
        remedy: `check where the file is from; set ${variable} higher if you trust the file`,
      });
    if (signal === END_OF_LIMIT.seconds) return refuse(`${seconds} seconds`, SECONDS_VARIABLE);
    if (signal === END_OF_LIMIT.memory || signal === HEAP_SIGNAL || code === HEAP_CODE)
      return refuse(`${Math.ceil(memoryBytes / MEBIBYTE)} MiB of memory`, MEMORY_VARIABLE);
    return new ProcessDiedError(`decoder of ${path} ended with ${signal ?? `exit code ${code}`}; run again`);
  }

  /** @param send asks what the next message answers. */
  async #read(send: () => void): Promise<DecoderReply> {
    const outcome = await new Promise<DecoderReply | Error>((resolve) => {
      this.#settle = resolve;
      send();
    });
    this.#settle = () => {};
    if (outcome instanceof Error) throw outcome;
    return outcome;
  }

  #send(request: DecoderRequest): void {
    // The end of the process tells why a message cannot be sent.
    this.#child.send(request, () => {});
  }

  /** @throws Error as the decoder has it; StorageError at a limit. */
  async *ask<Q extends DecoderQuestion>(question: Q): AsyncGenerator<DecoderParts[Q['ask']]> {
    if (this.#isEnded) throw new ProcessDiedError(`decoder of ${this.#task.path} has ended; open the file again`);
    let isRead = false;
    let reply = await this.#read(() => this.#send(question));
    try {
      while ('part' in reply) {
        const { part } = reply;
        // Asked for before the part is used, so that both processes work.
        const next = this.#read(() => this.#send({ next: true }));
        next.catch(() => {}); // awaited below, unless nobody reads on
        yield part as DecoderParts[Q['ask']];
        reply = await next;
      }
      isRead = true;
    } finally {
      if (!isRead) await this.close(); // the rest of this answer is none of a later question
    }
    if ('error' in reply) throw new Error(reply.error);
  }

  /** Ends the process. */
  async close(): Promise<void> {
    if (this.#isEnded) return;
    const exit = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exit;
  }
}

/** The answer of a decoder that is asked one question. */
async function* askOnce<Q extends DecoderQuestion>(path: string, question: Q): AsyncGenerator<DecoderParts[Q['ask']]> {
  const decoder = await Decoder.open(path);
  try {
    yield* decoder.ask(question);
  } finally {
    await decoder.close();
  }
}

/**
 * The bytes of a gzip file, unpacked in a process of its own.
 *
 * @throws Error for a file that cannot be read or unpacked; StorageError at a limit.
 */
export async function* unpackGzip(path: string): AsyncGenerator<Uint8Array> {
  const { size } = statSync(path);
  let length = 0;
  for await (const part of askOnce(path, { ask: 'gzip-bytes' })) {
    length += part.length;
    assertUnpackedSize(path, size, length, 'file');
    yield part;
  }
}

/**
 * The bytes of a zstd file, unpacked in a process of its own, however many they are. Checksums are not compared.
 *
 * @throws Error for a file that cannot be read or unpacked; StorageError at a limit of memory or time.
 */
export function unpackZstd(path: string): AsyncGenerator<Uint8Array> {
  return askOnce(path, { ask: 'zstd-bytes' });
}

/** The part of a Parquet file that is read. */
export interface ParquetOptions {
  /** All by default. */
  readonly columns?: readonly string[];
  /** True if bytes without a type are texts, the default. */
  readonly utf8?: boolean;
}

/** A Parquet file whose rows are read a few at a time. */
export interface ParquetFile extends ParquetShape {
  /** @throws Error for a file that cannot be decoded; StorageError at a limit. */
  readBatches(): AsyncGenerator<readonly Record<string, unknown>[]>;
  close(): Promise<void>;
}

/**
 * Opens a Parquet file, which is decoded in a process of its own.
 *
 * @throws Error for a file that cannot be read or decoded; StorageError at a limit of memory or time.
 */
export async function openParquet(path: string, { columns, utf8 = true }: ParquetOptions = {}): Promise<ParquetFile> {
  const decoder = await Decoder.open(path);
  try {
    let shape: ParquetShape = { rowCount: 0, columns: [] };
    for await (const part of decoder.ask({ ask: 'parquet-shape' })) shape = part;
    return {
      ...shape,
      readBatches: () => decoder.ask({ ask: 'parquet-rows', columns, utf8 }),
      close: () => decoder.close(),
    };
  } catch (error) {
    await decoder.close();
    throw error;
  }
}
