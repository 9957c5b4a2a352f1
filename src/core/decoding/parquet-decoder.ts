import {
  type AsyncBuffer,
  asyncBufferFromFile,
  type FileMetaData,
  parquetMetadataAsync,
  parquetReadObjects,
} from 'hyparquet';
import type { ParquetShape } from './decoder-messages.ts';

/** Rows of one message: few enough that rows of long texts fit. */
const ROWS = 256;

/** Compressions that hyparquet reads itself. */
const OWN_CODECS: ReadonlySet<string> = new Set(['UNCOMPRESSED', 'SNAPPY']);

interface OpenFile {
  readonly file: AsyncBuffer;
  readonly metadata: FileMetaData;
}

async function openFile(path: string): Promise<OpenFile> {
  const file = await asyncBufferFromFile(path);
  return { file, metadata: await parquetMetadataAsync(file) };
}

async function* readShape({ metadata }: OpenFile): AsyncGenerator<ParquetShape> {
  yield { rowCount: Number(metadata.num_rows), columns: metadata.schema.map(({ name }) => name) };
}

/** The rows, a row group at a time. */
async function* readRows({ file, metadata }: OpenFile, columns: readonly string[] | undefined, utf8: boolean) {
  const codecs = metadata.row_groups.flatMap((group) => group.columns.map(({ meta_data }) => meta_data?.codec));
  const isForeign = codecs.some((codec) => codec !== undefined && !OWN_CODECS.has(codec));
  const packing = isForeign ? { compressors: (await import('hyparquet-compressors')).compressors } : {};
  const options = { file, metadata, utf8, ...packing, ...(columns === undefined ? {} : { columns: [...columns] }) };
  let rowStart = 0;
  for (const group of metadata.row_groups) {
    const rowEnd = rowStart + Number(group.num_rows);
    const rows = await parquetReadObjects({ ...options, rowStart, rowEnd });
    for (let i = 0; i < rows.length; i += ROWS) yield rows.slice(i, i + ROWS);
    rowStart = rowEnd;
  }
}

/** Answers questions about a Parquet file. */
export function createParquetDecoder(path: string) {
  let opened: Promise<OpenFile> | undefined;
  const open = () => {
    opened ??= openFile(path);
    return opened;
  };
  return {
    async *shape() {
      yield* readShape(await open());
    },
    async *rows(columns: readonly string[] | undefined, utf8: boolean) {
      yield* readRows(await open(), columns, utf8);
    },
  };
}
