/** An answer that is longer than it may be, and is discarded. */
export class BodyTooLargeError extends Error {
  constructor(most: number) {
    super(`the answer has more than ${most.toLocaleString('en-US')} bytes`);
  }
}

/**
 * The chunks of an answer from outside, which is given up as soon as it is longer than `most` bytes: the caller's loop
 * ends with the error, and the connection is closed.
 *
 * @throws BodyTooLargeError.
 */
export async function* limitBody(chunks: AsyncIterable<Uint8Array>, most: number): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > most) throw new BodyTooLargeError(most);
    yield chunk;
  }
}

/**
 * The text of an answer, UTF-8.
 *
 * @throws BodyTooLargeError for an answer of more than `most` bytes; the error of the connection.
 */
export async function readLimitedText(chunks: AsyncIterable<Uint8Array>, most: number): Promise<string> {
  const read: Uint8Array[] = [];
  for await (const chunk of limitBody(chunks, most)) read.push(chunk);
  return new TextDecoder().decode(Buffer.concat(read));
}
