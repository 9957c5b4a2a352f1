import { createReadStream } from 'node:fs';
import { unpackGzip } from '../../core/decoding/gzip.ts';
import { RagPlusPlusError, StorageError, ValidationError } from '../../core/errors/errors.ts';
import { createEventBreaks } from '../../core/values/event-loop.ts';
import { isId } from '../jsonl/id-schema.ts';
import type { Counts } from '../prepared/counts.ts';
import type { SourceDocument } from './document-dataset.ts';
import { ElementSplitter, splitAtTags } from './sgml-elements.ts';

/** Elements that are no text of the document. */
const SKIPPED: readonly string[] = ['DOCNO', 'DOCHDR'];
/** Elements that hold a title, in the collections of TREC. */
const TITLES: readonly string[] = ['TITLE', 'HEADLINE', 'HL', 'TTL', 'TI'];
const NAMED: ReadonlySet<string> = new Set([...SKIPPED, ...TITLES]);

/**
 * Reads the documents of a file as a stream.
 *
 * @throws ValidationError for a document without a number; StorageError if the file cannot be read.
 */
export async function readTrecDocuments(path: string, counts: Counts): Promise<SourceDocument[]> {
  const documents: SourceDocument[] = [];
  const splitter = new ElementSplitter('DOC', path);
  const breakNow = createEventBreaks();
  try {
    for await (const chunk of openText(path))
      for (const element of splitter.push(chunk)) {
        const document = parseTrecDocument(element, path);
        if (document.text === '') counts.add('skipped: documents without a text');
        else documents.push(document);
        await breakNow();
      }
  } catch (error) {
    if (error instanceof RagPlusPlusError) throw error;
    throw new StorageError('read', path, { cause: error });
  }
  splitter.finish();
  return documents;
}

/** The text of a file, unpacked if it ends in .gz; bytes that are not UTF-8 are U+FFFD. */
async function* openText(path: string): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  for await (const part of path.endsWith('.gz') ? unpackGzip(path) : createReadStream(path))
    yield decoder.decode(part as Uint8Array, { stream: true });
  yield decoder.decode();
}

/** One document: its number, its title and all of its text. */
export function parseTrecDocument(element: string, where: string): SourceDocument {
  const parts = splitAtTags(element, NAMED);
  const readElement = (name: string | undefined) => {
    const texts = parts.filter(({ tag }) => tag === name).map(({ text }) => text);
    return texts.join(' ').replace(/\s+/g, ' ').trim();
  };
  const id = readElement('DOCNO');
  if (!isId(id))
    throw new ValidationError(
      `expected <DOCNO> with an id without spaces in ${where}, got ${JSON.stringify(id)}; correct the document ${JSON.stringify(element.trim().slice(0, 60))}`,
      { where, id },
    );
  const title = TITLES.find((name) => parts.some(({ tag }) => tag === name));
  const text = parts.filter(({ tag }) => tag === null || !SKIPPED.includes(tag)).map((part) => part.text.trim());
  return { id, title: title === undefined ? null : readElement(title), text: text.join('\n') };
}
