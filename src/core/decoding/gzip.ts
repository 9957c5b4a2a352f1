import { statSync } from 'node:fs';
import { assertUnpackedSize, Decoder } from './decoder.ts';

/**
 * The bytes of a gzip file, unpacked in a process of its own.
 *
 * @throws Error for a file that cannot be read or unpacked; StorageError at a limit.
 */
export async function* unpackGzip(path: string): AsyncGenerator<Uint8Array> {
  const { size } = statSync(path);
  const decoder = await Decoder.open(path);
  let length = 0;
  try {
    for await (const part of decoder.ask({ ask: 'gzip-bytes' })) {
      length += part.length;
      assertUnpackedSize(path, size, length, 'file');
      yield part;
    }
  } finally {
    await decoder.close();
  }
}
