import { Decoder } from './decoder.ts';
import type { ParquetShape } from './decoder-messages.ts';

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
