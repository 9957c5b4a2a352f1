/** A question to a decoder, which answers with parts, and then with their end or an error. */
export type DecoderQuestion =
  | { readonly ask: 'parquet-shape' }
  | { readonly ask: 'parquet-rows'; readonly columns: readonly string[] | undefined; readonly utf8: boolean }
  | { readonly ask: 'zip-entries' }
  | { readonly ask: 'zip-bytes'; readonly entry: number }
  | { readonly ask: 'gzip-bytes' }
  | { readonly ask: 'zstd-bytes' };

/** Rows and columns of a Parquet file, as its metadata states them. */
export interface ParquetShape {
  readonly rowCount: number;
  /** The names of its columns, those within others too. */
  readonly columns: readonly string[];
}

/** An entry of a zip file, as the archive states it. */
export interface ZipEntry {
  /** The place of the entry in the archive. */
  readonly entry: number;
  readonly name: string;
  readonly compressedSize: number;
  readonly uncompressedSize: number;
  readonly crc32: number;
  readonly method: number;
  readonly isEncrypted: boolean;
}

/** The part of an answer to each question. */
export interface DecoderParts {
  'parquet-shape': ParquetShape;
  'parquet-rows': readonly Record<string, unknown>[];
  'zip-entries': readonly ZipEntry[];
  'zip-bytes': Uint8Array;
  'gzip-bytes': Uint8Array;
  'zstd-bytes': Uint8Array;
}

/** A message of a decoder. */
export type DecoderReply =
  | { readonly ready: true }
  | { readonly part: unknown }
  | { readonly done: true }
  | { readonly error: string };

/** A message to a decoder: a question, or that the part before was read. */
export type DecoderRequest = DecoderQuestion | { readonly next: true };

/** A file and its limits. */
export interface DecoderTask {
  readonly path: string;
  /** Bytes that the process may hold. */
  readonly memoryBytes: number;
  /** Seconds that the process may compute. */
  readonly seconds: number;
}

/** The signals by which a decoder that passes a limit ends itself. */
export const END_OF_LIMIT = { memory: 'SIGKILL', seconds: 'SIGTERM' } as const;
