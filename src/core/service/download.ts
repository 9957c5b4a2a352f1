import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream, existsSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { phrase, type ShowableText, stateShown } from '../display/display.ts';
import { ChecksumMismatchError, StorageError, UnavailableError } from '../errors/errors.ts';
import { makeFolder } from '../files/files.ts';
import { PassingFault, repeatAttempts } from './endpoint-request.ts';
import { BodyTooLargeError, limitBody } from './http-connection.ts';

const ATTEMPTS = { maxAttempts: 4, pauseSeconds: 0.5 };

/** A file of another machine. */
export interface DownloadOptions {
  /** The part that needs the file, as errors name it. */
  readonly user: string;
  /** The end of an error. */
  readonly remedy: string;
  /** More bytes than this are an error. */
  readonly mostBytes: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** In hex, of the whole file: a download that was interrupted goes on where it stopped, and a finished one is kept. */
  readonly sha256?: string;
  /** False if a missing file, status 404, is no error; true by default. */
  readonly isNeeded?: boolean;
  /** Receives the bytes that are there, and those of the whole file; null if the answer does not state them. */
  readonly report?: (done: number, total: number | null) => void;
}

/**
 * Downloads a file to a path: to a neighbour `.partial`, which is renamed once it is complete. Repeats an attempt that
 * ends in status 408, 429 or 5xx, without an answer or within one. Redirects are followed, but not from https to http.
 *
 * @returns true if there is such a file.
 * @throws UnavailableError for another status, for too many bytes, and for the last attempt; ChecksumMismatchError for
 *   another file than that of the hash.
 */
export async function downloadFile(url: string, path: string, options: DownloadOptions): Promise<boolean> {
  const { user, remedy, sha256 } = options;
  const partial = `${path}.partial`;
  const createError = (reason: ShowableText, cause?: unknown) =>
    new UnavailableError(user, `${url}: ${reason}; ${remedy}`, { cause });
  makeFolder(dirname(path));
  if (sha256 !== undefined && existsSync(path) && (await hashFile(path)) === sha256) return true;
  if (sha256 === undefined) rmSync(partial, { force: true });
  try {
    const isThere = await repeatAttempts(
      () => fetchToPartial(url, partial, options, createError),
      ATTEMPTS,
      (fault, attempts) => createError(phrase`${fault.message}, after ${attempts} attempts`, fault.cause),
    );
    if (!isThere) return false;
  } catch (error) {
    if (sha256 === undefined) rmSync(partial, { force: true });
    throw error;
  }
  const found = sha256 === undefined ? undefined : await hashFile(partial);
  if (found !== sha256) {
    rmSync(partial, { force: true });
    throw new ChecksumMismatchError(url, `its SHA-256 is ${found}, expected ${sha256}`, remedy);
  }
  renameSync(partial, path);
  return true;
}

function readSize(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk);
  return hash.digest('hex');
}

type CreateError = (reason: ShowableText, cause?: unknown) => Error;

/** True for a status that another attempt may not have. */
const isPassing = (status: number) => status === 408 || status === 429 || status >= 500;

/** One attempt, which adds to the bytes that are there if the answer does. @returns true if there is such a file. */
async function fetchToPartial(
  url: string,
  partial: string,
  options: DownloadOptions,
  createError: CreateError,
): Promise<boolean> {
  const { headers = {}, sha256, isNeeded = true, mostBytes, report } = options;
  if (sha256 === undefined) rmSync(partial, { force: true });
  const before = readSize(partial);
  const response = await ask(url, before === 0 ? headers : { ...headers, range: `bytes=${before}-` });
  const { status, body } = response;
  if (url.startsWith('https:') && !response.url.startsWith('https:'))
    throw createError(phrase`it leads to an address without https`);
  if (status === 404 && !isNeeded) {
    await body?.cancel();
    return false;
  }
  if (status === 416) rmSync(partial, { force: true }); // there are no bytes behind those that came
  if (status === 416 || isPassing(status)) throw new PassingFault(phrase`status ${status}`);
  if (!response.ok || body === null) throw createError(phrase`status ${status}`);
  const start = status === 206 ? before : 0;
  const length = readLength(response);
  const total = length === null ? null : start + length;
  if (total !== null && total > mostBytes) throw createError(stateShown(new BodyTooLargeError(mostBytes).message));
  try {
    const counted = countBytes(limitBody(body, mostBytes - start), (bytes) => report?.(start + bytes, total));
    await pipeline(counted, createWriteStream(partial, { flags: start > 0 ? 'a' : 'w' }));
  } catch (error) {
    if (error instanceof BodyTooLargeError) throw createError(stateShown(error.message), error);
    if ((error as NodeJS.ErrnoException).syscall === 'write')
      throw new StorageError('write', partial, { cause: error });
    throw new PassingFault(describeFailure(error), { cause: error as Error });
  }
  const size = readSize(partial);
  if (total !== null && size < total) throw new PassingFault(phrase`${size} of ${total} bytes came`);
  return true;
}

async function ask(url: string, headers: Readonly<Record<string, string>>): Promise<Response> {
  try {
    return await fetch(url, { headers });
  } catch (error) {
    throw new PassingFault(describeFailure(error), { cause: error as Error });
  }
}

/** The reason of a failed fetch is in its cause. */
function describeFailure(error: unknown): ShowableText {
  const { message, cause } = error as Error;
  return stateShown(cause instanceof Error && cause.message !== '' ? `${message} (${cause.message})` : message);
}

/** The bytes of the body; null where the answer does not state them, or states those of its compressed form. */
function readLength({ headers }: Response): number | null {
  const length = headers.get('content-length');
  return length === null || headers.get('content-encoding') !== null ? null : Number(length);
}

async function* countBytes(chunks: AsyncIterable<Uint8Array>, report: (bytes: number) => void) {
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    yield chunk;
    report(bytes);
  }
}
