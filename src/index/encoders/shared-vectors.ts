import { join } from 'node:path';
import { ChecksumMismatchError } from '../../core/errors/errors.ts';
import { answerOr, type BlobStore } from '../../core/files/blob-store.ts';
import { computeHash, viewAsBytes } from '../../core/hash/hash.ts';
import { gatherRows } from '../../core/tensors/rows.ts';
import type { EncoderSource } from './embedding-cache.ts';
import {
  computeTextKey,
  decodeHeader,
  decodeKeys,
  encodeBlock,
  HASH_BYTES,
  HEADER_BYTES,
  Segments,
  VECTORS,
} from './segments.ts';

/** Texts that an encoder is going to be given. */
export interface SharedTexts {
  readonly turns: readonly string[];
  readonly queries: readonly string[];
}

/** The keys under which an encoder keeps the vectors of texts, each once. */
function listKeys({ dependsOn }: EncoderSource, { turns, queries }: SharedTexts): string[] {
  const keys = [
    ...turns.map((text) => computeTextKey(text)),
    ...queries.map((text) => computeTextKey(text, dependsOn === 'kind')),
  ];
  return [...new Set(keys)];
}

const nameBlob = (identity: string, keys: readonly string[]) => `vectors/${identity}/${computeHash(keys)}`;

function openSegments(source: EncoderSource, folder: string) {
  const identity = computeHash(source.identity);
  return {
    identity,
    segments: Segments.open(VECTORS, join(folder, `${source.name}-${identity.slice(0, 16)}`), identity),
  };
}

/** Offers the vectors of texts to other machines, if the cache has some of them. */
export async function offerVectors(source: EncoderSource, folder: string, texts: SharedTexts, blobs: BlobStore) {
  if (source.dependsOn === 'id') return;
  const { identity, segments } = openSegments(source, folder);
  const { dimension } = segments;
  const wanted = listKeys(source, texts);
  if (dimension === null) return;
  const keys: string[] = [];
  const vectors: Float32Array[] = [];
  for (const { keys: found, rows, values } of segments.read(wanted)) {
    keys.push(...found);
    vectors.push(gatherRows(new Float32Array(values.buffer), dimension, rows));
  }
  const joined = new Float32Array(keys.length * dimension);
  let at = 0;
  for (const part of vectors) {
    joined.set(part, at);
    at += part.length;
  }
  if (keys.length > 0)
    await blobs.put(nameBlob(identity, wanted), encodeBlock(VECTORS, identity, keys, dimension, viewAsBytes(joined)));
}

/**
 * Fetches the vectors of texts that the cache lacks, if another machine has offered them.
 *
 * @throws ChecksumMismatchError for a blob that holds something else.
 */
export async function fetchVectors(source: EncoderSource, folder: string, texts: SharedTexts, blobs: BlobStore) {
  if (source.dependsOn === 'id') return;
  const { identity, segments } = openSegments(source, folder);
  const wanted = listKeys(source, texts);
  if (wanted.every((key) => segments.has(key))) return;
  const name = nameBlob(identity, wanted);
  const bytes = await answerOr(blobs.get(name), null);
  if (bytes === null) return;
  const block = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const header = decodeHeader(VECTORS, block.subarray(0, HEADER_BYTES));
  if (header === null || header.identity !== identity)
    throw new ChecksumMismatchError(name, 'not vectors of this encoder', 'start the run again');
  const valuesAt = HEADER_BYTES + header.count * HASH_BYTES;
  segments.append(decodeKeys(block.subarray(HEADER_BYTES, valuesAt)), header.dimension, bytes.subarray(valuesAt));
  segments.close();
}
