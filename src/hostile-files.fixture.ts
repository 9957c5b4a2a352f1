import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { createRandom } from './core/numbers/random.ts';
import { writeZip } from './data/exports/zip.fixture.ts';

const say = (id: string, parent: string | null, children: string[], role: string, text: string, time: number) => ({
  ...{ id, parent, children },
  message: { id, author: { role }, create_time: time, content: { content_type: 'text', parts: [text] }, metadata: {} },
});
const NODES: Record<string, unknown> = {
  a: say('a', null, ['b'], 'user', 'How long do lentils take to cook please tell me?', 1_700_000_000),
  b: say('b', 'a', ['c'], 'assistant', 'Red ones a quarter of an hour, green ones twice that.', 1_700_000_050),
  c: say('c', 'b', [], 'user', 'And how long do the green ones take when they were soaked?', 1_700_000_090),
};
const formatChats = (mapping: object, current = 'c') =>
  JSON.stringify([{ title: 't', create_time: 1_700_000_000, id: 'c1', current_node: current, mapping }]);
const OK = formatChats(NODES);
const NAME = 'conversations.json';

const nest = (open: string, within: string, close: string, depth: number) =>
  open.repeat(depth) + within + close.repeat(depth);

/** A chat of 20,000 messages, each an answer to the one before: large and honest. */
function writeChain(): string {
  const nodes = Array.from({ length: 20_000 }, (_, i) => {
    const [parent, children] = [i === 0 ? null : `n${i - 1}`, i === 19_999 ? [] : [`n${i + 1}`]];
    const text = `words of message number ${i} about lentils and more`;
    return [`n${i}`, say(`n${i}`, parent, children, i % 2 === 0 ? 'user' : 'assistant', text, 1_700_000_000 + i)];
  });
  return formatChats(Object.fromEntries(nodes), 'n19999');
}

/** A zip file with bytes at places of the first line of its directory, or at the end. */
function damageZip(place: number, bytes: readonly number[], at = 'PK\x01\x02'): Buffer {
  const zip = writeZip([{ name: NAME, content: OK }]);
  zip.set(bytes, zip.lastIndexOf(at) + place);
  return zip;
}

const link = damageZip(38, [0, 0, 0xff, 0xa1]); // the mode of a symbolic link
link[link.lastIndexOf('PK\x01\x02') + 5] = 3; // made on Unix

const npy = (header: string, data = Buffer.alloc(16)) =>
  Buffer.concat([
    Buffer.from('\x93NUMPY\x01\x00', 'latin1'),
    Buffer.from(Uint16Array.of(header.length).buffer),
    Buffer.from(header),
    data,
  ]);
const npyOf = (descr: string, shape: string) =>
  npy(`{'descr': '${descr}', 'fortran_order': False, 'shape': ${shape}, }\n`);

function safetensors(header: string | object, data = Buffer.alloc(16), length?: bigint): Buffer {
  const text = Buffer.from(typeof header === 'string' ? header : JSON.stringify(header));
  const size = Buffer.alloc(8);
  size.writeBigUInt64LE(length ?? BigInt(text.length));
  return Buffer.concat([size, text, data]);
}
const tensor = (shape: number[], data_offsets = [0, 16]) => ({ dtype: 'F32', shape, data_offsets });

const parquet = (metadata: Uint8Array, length = metadata.length) =>
  Buffer.concat([Buffer.from('PAR1'), metadata, Buffer.from(Uint32Array.of(length).buffer), Buffer.from('PAR1')]);
const honest = () =>
  Buffer.from(
    parquetWriteBuffer({
      columnData: [
        { name: 'id', data: ['a', 'b', 'c'], type: 'STRING' },
        {
          name: 'vector',
          data: [
            [1, 0],
            [0, 1],
            [1, 1],
          ],
          type: 'JSON',
        },
      ],
    }),
  );
/** The number of rows that the metadata states, as a zig-zag varint of the thrift protocol, made large. */
function stateRows(): Buffer {
  const file = honest();
  const start = file.length - 8 - file.readUInt32LE(file.length - 8);
  const metadata = file.subarray(start, file.length - 8);
  const at = metadata.lastIndexOf(Buffer.of(0x16, 6, 0x19)); // field i64 of 3 rows, then a list
  const large = Buffer.concat([
    metadata.subarray(0, at + 1),
    Buffer.of(0xfe, 0xff, 0xff, 0xff, 0xff, 0x3f),
    metadata.subarray(at + 2),
  ]);
  return Buffer.concat([
    file.subarray(0, start),
    large,
    Buffer.from(Uint32Array.of(large.length).buffer),
    Buffer.from('PAR1'),
  ]);
}
/** A page that states a size of some 2 GB. */
function statePage(): Buffer {
  const file = honest();
  const at = file.indexOf(Buffer.of(0x15)) + 2; // the field of the type of the first page, then that of its size
  return Buffer.concat([file.subarray(0, at), Buffer.of(0x15, 0xfe, 0xff, 0xff, 0xff, 0x0f), file.subarray(at + 2)]);
}
const random = createRandom(1, 'hostile');
const NOISE = Buffer.from(Array.from({ length: 2000 }, () => random.integer(256)));

const TREE = JSON.stringify({
  message_tree_id: 'a',
  prompt: { message_id: 'a', role: 'prompter', text: 'x', replies: [] },
});

/** Hostile files by name, with the message of the error of each, or null where a file is read as it is. */
export const HOSTILE_FILES: Readonly<Record<string, readonly [() => string | Uint8Array, RegExp | null]>> = {
  'ok.zip': [() => writeZip([{ name: NAME, content: OK }]), null],
  'bomb.zip': [() => writeZip([{ name: NAME, content: new Uint8Array(2 ** 26) }]), /64 MiB from 1 MiB/],
  'three-gigabytes.zip': [() => writeZip([{ name: NAME, content: OK, stated: { size: 3e9 } }]), /at most 500 MiB/],
  'lying-bomb.zip': [
    () => writeZip([{ name: NAME, content: new Uint8Array(2 ** 26), stated: { size: 9 } }]),
    /too many bytes/,
  ],
  'paths.zip': [
    () =>
      writeZip([
        { name: '../../pwned.txt', content: 'x' },
        { name: NAME, content: OK },
      ]),
    /relative path/,
  ],
  'absolute.zip': [
    () =>
      writeZip([
        { name: '/etc/pwned', content: 'x' },
        { name: NAME, content: OK },
      ]),
    /absolute path/,
  ],
  'many.zip': [
    () => writeZip(Array.from({ length: 60_000 }, (_, i) => ({ name: `a${i}/${NAME}`, content: '[]' }))),
    /60000 files .* at most 1000/,
  ],
  'twice.zip': [
    () =>
      writeZip([
        { name: NAME, content: OK },
        { name: NAME, content: '[]' },
      ]),
    /several entries/,
  ],
  'link.zip': [() => link, null],
  'size.zip': [() => damageZip(24, [10, 0, 0, 0]), /too many bytes|size/],
  'checksum.zip': [() => damageZip(16, [0xef, 0xbe, 0xad, 0xde]), /checksum/],
  'offset.zip': [() => damageZip(42, [0xff, 0xff, 0xff, 0x7f]), /cannot unpack/],
  'count.zip': [() => damageZip(10, [0xff, 0xff], 'PK\x05\x06'), /cannot unpack/],
  'directory.zip': [() => damageZip(16, [0xff, 0xff, 0xff, 0x7f], 'PK\x05\x06'), /cannot unpack/],
  'cut.zip': [() => writeZip([{ name: NAME, content: OK }]).subarray(0, 200), /cannot unpack/],
  'deep-in.zip': [
    () => writeZip([{ name: NAME, content: nest('[', '', ']', 100_000), stored: true }]),
    /nested 100000 deep/,
  ],
  'ok.json': [() => OK, null],
  'chain.json': [writeChain, null],
  'lists.json': [() => nest('[', '', ']', 500_000), /nested 500000 deep/],
  'objects.json': [() => `[{"title":"t","mapping":${nest('{"a":', '1', '}', 100_000)}}]`, /nested \d+ deep/],
  'cycle.json': [() => formatChats({ ...NODES, a: { ...(NODES.a as object), parent: 'c' } }), /circle of parents/],
  'prototype.json': [
    () => OK.replace('"a":{', '"__proto__":{').replaceAll('"parent":"a"', '"parent":"__proto__"'),
    null,
  ],
  'objects.npy': [() => npyOf('|O', '(2, 2)'), /\|O/],
  'huge.npy': [() => npyOf('<f4', '(1000000000000, 1000000)'), /npy (has|is not an npy)/],
  'negative.npy': [() => npyOf('<f4', '(-1, 4)'), /npy (has|is not an npy)/],
  'overflow.npy': [() => npyOf('<f4', '(4294967297, 4294967297)'), /npy (has|is not an npy)/],
  'code.npy': [() => npy(`__import__('os').system('touch pwned')\n`), /npy (has|is not an npy)/],
  'spaces.npy': [
    () => npy(`{'descr': '<f4', 'fortran_order': False, 'shape': (${' '.repeat(60_000)}\n`),
    /npy (has|is not an npy)/,
  ],
  'keys.npy': [() => npy(`{${"'a':".repeat(15_000)}\n`), /npy (has|is not an npy)/],
  'short.npy': [() => '\x93NUM', /npy (has|is not an npy)/],
  'null.safetensors': [() => safetensors('null'), /damaged file|none is named vectors/],
  'metadata.safetensors': [() => safetensors({ __metadata__: null }), /damaged file|none is named vectors/],
  'length.safetensors': [() => safetensors('{}', Buffer.alloc(0), 2n ** 63n), /damaged file|none is named vectors/],
  'huge.safetensors': [
    () => safetensors({ vectors: tensor([2 ** 40, 2 ** 20]) }),
    /damaged file|none is named vectors/,
  ],
  'negative.safetensors': [() => safetensors({ vectors: tensor([-1, 4]) }), /damaged file|none is named vectors/],
  'overlap.safetensors': [() => safetensors({ vectors: tensor([2, 2]), ids: tensor([2, 2]) }), null],
  'prototype.safetensors': [
    () => safetensors('{"__proto__":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}'),
    /damaged file|none is named vectors/,
  ],
  'deep.safetensors': [() => safetensors(nest('[', '', ']', 200_000)), /damaged file|none is named vectors/],
  'offsets.safetensors': [
    () => safetensors({ vectors: tensor([2, 2], [1e308, -5]) }),
    /damaged file|none is named vectors/,
  ],
  'short.parquet': [() => 'PAR1', /cannot read/],
  'length.parquet': [() => parquet(Buffer.alloc(0), 0xffffffff), /metadata length/],
  'noise.parquet': [() => parquet(NOISE), /cannot (read|decode)/],
  'lists.parquet': [
    () => parquet(Buffer.from('19fcffffff0f'.repeat(400), 'hex')),
    /more than \d+ (MiB of memory|seconds)/,
  ],
  'rows.parquet': [stateRows, null],
  'page.parquet': [statePage, /cannot (read|decode)|no list of numbers/],
  'bomb.jsonl.gz': [() => gzipSync(Buffer.alloc(2 ** 26, 32)), /cannot unpack \(\d+ MiB from 1 MiB\)/],
  'cut.jsonl.gz': [() => gzipSync(TREE).subarray(0, 40), /cannot decompress/],
  'none.jsonl.gz': [() => TREE, /cannot decompress/],
};

/** Writes the files into a folder. */
export function writeHostileFiles(folder: string): void {
  mkdirSync(folder, { recursive: true });
  for (const [name, [build]] of Object.entries(HOSTILE_FILES)) writeFileSync(join(folder, name), build());
}
