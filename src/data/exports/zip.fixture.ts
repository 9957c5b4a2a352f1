import { deflateRawSync } from 'node:zlib';
import { computeCrc32 } from '../../core/hash/hash.ts';

/** An entry of a zip file that is written by hand. */
interface ZipEntry {
  /** UTF-8 with its flag, or bytes without it. */
  readonly name: string | Uint8Array;
  readonly content: string | Uint8Array;
  /** Stored as it is, not compressed. */
  readonly stored?: boolean;
  /** The number of a compression method, and whether there is a password, where they are not the truth. */
  readonly method?: number;
  readonly encrypted?: boolean;
  /** What the headers state where it is not the truth. */
  readonly stated?: { readonly size?: number; readonly crc?: number };
}

/** The part that the header of an entry and its line in the directory share (APPNOTE.TXT, 4.3.7 and 4.3.12). */
function writeCommonFields(entry: ZipEntry, data: Uint8Array): Buffer {
  const { name, content, stored = false, method = stored ? 0 : 8, encrypted = false, stated } = entry;
  const bytes = Buffer.from(content);
  const fields = Buffer.alloc(26);
  fields.writeUInt16LE(20, 0); // version needed
  fields.writeUInt16LE((typeof name === 'string' ? 0x0800 : 0) | (encrypted ? 1 : 0), 2); // whether names are UTF-8
  fields.writeUInt16LE(method, 4);
  fields.writeUInt32LE(stated?.crc ?? computeCrc32(bytes), 10);
  fields.writeUInt32LE(data.length, 14);
  fields.writeUInt32LE(stated?.size ?? bytes.length, 18);
  fields.writeUInt16LE(Buffer.from(name).length, 22);
  return fields;
}

/** A zip file. */
export function writeZip(entries: readonly ZipEntry[]): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const entry of entries) {
    const data = entry.stored === true ? Buffer.from(entry.content) : deflateRawSync(entry.content);
    const common = writeCommonFields(entry, data);
    const name = Buffer.from(entry.name);
    const header = Buffer.concat([Buffer.from('PK\x03\x04'), common, name, data]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(offset, 10);
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02'), Buffer.from([20, 0]), common, rest, name]));
    parts.push(header);
    offset += header.length;
  }
  const lines = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(entries.length, 4);
  end.writeUInt16LE(entries.length, 6);
  end.writeUInt32LE(lines.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...parts, lines, Buffer.from('PK\x05\x06'), end]);
}
