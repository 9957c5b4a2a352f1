import { createReadStream, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { unpackGzip } from '../../core/decoding/decoder.ts';
import { RagPlusPlusError, StorageError, ValidationError } from '../../core/errors/errors.ts';
import { readFolder, readText } from '../../core/files/files.ts';
import {
  createEventBreaks,
  ignoreProgress,
  letEventsIn,
  mapWithBreaks,
  type StartProgress,
} from '../../core/terminal/progress.ts';
import type { Dataset } from '../../model/dataset.ts';
import { isId, type QrelRow, RowFaults, readQrels } from '../jsonl/jsonl-rows.ts';
import { type DatasetContext, type TopicField, trecCollection } from '../prepared/datasets.ts';
import { Counts, type Judgement, UNKNOWN_TURNS } from '../prepared/prepared.ts';
import { buildDocumentDataset, type SourceDocument, type SourceQuestion } from './document-dataset.ts';
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

/** The tags of the fields; the words before a field's content in the older files. */
const FIELDS: Readonly<Record<'num' | TopicField, { readonly tag: string; readonly label: RegExp }>> = {
  num: { tag: 'NUM', label: /^\s*Number:/i },
  title: { tag: 'TITLE', label: /^\s*Topic:/i },
  description: { tag: 'DESC', label: /^\s*Description:/i },
  narrative: { tag: 'NARR', label: /^\s*Narrative:/i },
};

/**
 * The topics of a file: `<top>` with `<num>`, `<title>`, `<desc>` and `<narr>`, whose ends may be missing. Zeros before
 * a number are left out, as in judgements.
 *
 * @param fields what is asked, in this order.
 * @throws ValidationError for a file without topics, and for a topic without a number or without any of the fields.
 */
export function parseTrecTopics(text: string, fields: readonly TopicField[], where: string): SourceQuestion[] {
  const splitter = new ElementSplitter('top', where);
  const elements = splitter.push(text);
  splitter.finish();
  if (elements.length === 0)
    throw new ValidationError(`no <top> in: ${where}; name a file of topics in the format of TREC`, { where });
  return elements.map((element, i) => parseTopic(element, fields, `topic ${i + 1} of ${where}`));
}

function parseTopic(element: string, fields: readonly TopicField[], where: string): SourceQuestion {
  const parts = splitAtTags(element);
  const readField = (field: keyof typeof FIELDS) => {
    const { tag, label } = FIELDS[field];
    const content = parts.filter((part) => part.tag === tag).map((part) => part.text);
    return content.join(' ').replace(label, '').replace(/\s+/g, ' ').trim();
  };
  const id = readField('num').replace(/^0+(?=\d)/, '');
  if (!isId(id))
    throw new ValidationError(
      `expected <num> with an id without spaces in ${where}, got ${JSON.stringify(id)}; correct the topic`,
      {
        where,
        id,
      },
    );
  const text = fields
    .map(readField)
    .filter((content) => content !== '')
    .join('\n');
  if (text === '')
    throw new ValidationError(
      `${where} has no ${fields.join(', ')}: ${id}; set other topicFields or correct the topic`,
      { where, id },
    );
  return { id, text };
}

/** The files of a test collection, and how its topics and grades are read. */
export interface TrecCollectionOptions {
  /** The folder with the files. */
  readonly path: string;
  /** Files of documents, or folders of such files. */
  readonly documents: readonly string[];
  /** The file of topics. */
  readonly topics: string;
  /** The file of judgements. */
  readonly qrels: string;
  /** What is asked of a topic. */
  readonly topicFields: readonly TopicField[];
  /** The least grade that counts as relevant. */
  readonly relevantGrade: number;
}

/**
 * A test collection in the formats of TREC: a topic must find the documents that are judged relevant. See
 * docs/datasets/trec-collection.md.
 *
 * @throws ValidationError for files of another form, and if no topic has a relevant document; StorageError if a file
 *   cannot be read.
 */
export async function loadTrecCollection(
  options: TrecCollectionOptions,
  { progress = ignoreProgress }: Partial<DatasetContext> = {},
): Promise<Dataset> {
  const { path, topicFields, relevantGrade } = options;
  const counts = new Counts();
  const topicFile = resolve(path, options.topics);
  const questions = parseTrecTopics(readText(topicFile), topicFields, topicFile);
  const judged = readJudgements(resolve(path, options.qrels));
  const documents = await readAllDocuments(path, options.documents, counts, progress);
  await letEventsIn();
  return buildDocumentDataset(
    { documents, questions, judgements: selectKnown(judged, documents, questions, counts) },
    {
      name: 'trec-collection',
      path,
      task: `a topic (${topicFields.join(', ')}) must find the documents that are judged relevant`,
      licence: trecCollection.licence,
      relevantGrade,
      gradeNames: {},
    },
    counts,
  );
}

/** The documents of all files. @throws ValidationError if there is none. */
async function readAllDocuments(
  path: string,
  names: readonly string[],
  counts: Counts,
  progress: StartProgress,
): Promise<SourceDocument[]> {
  counts.add('skipped: documents without a text', 0);
  const all: SourceDocument[] = [];
  const files = names.flatMap((name) => listFiles(resolve(path, name)));
  const stage = progress('files of documents', files.length);
  await mapWithBreaks(files, stage, async (file) => {
    const read = await readTrecDocuments(file, counts);
    if (read.length === 0)
      throw new ValidationError(`no <DOC> with a text in: ${file}; name files of documents in the format of TREC`, {
        file,
      });
    for (const document of read) all.push(document);
  });
  stage.finish(`${all.length} documents`);
  return all;
}

/** A file, or all files of a folder, in the order of their names. */
function listFiles(path: string): string[] {
  try {
    if (!statSync(path).isDirectory()) return [path];
  } catch (error) {
    throw new StorageError('read', path, { cause: error });
  }
  return readFolder(path).flatMap((name) => listFiles(join(path, name)));
}

function readJudgements(path: string): QrelRow[] {
  const faults = new RowFaults();
  const rows = readQrels('', path, faults).map(({ row }) => row);
  faults.settle(path, 'error', 'name another file of judgements');
  return rows;
}

/** The judgements of documents and topics that there are; others are counted. */
function selectKnown(
  judged: readonly QrelRow[],
  documents: readonly SourceDocument[],
  questions: readonly SourceQuestion[],
  counts: Counts,
): Judgement[] {
  const known = { documents: new Set(documents.map(({ id }) => id)), topics: new Set(questions.map(({ id }) => id)) };
  const skipped = { documents: UNKNOWN_TURNS['trec-collection'], topics: 'skipped: judgements of unknown topics' };
  for (const fact of Object.values(skipped)) counts.add(fact, 0);
  return judged.filter(({ queryId, turnId }) => {
    const unknown = !known.topics.has(queryId) ? 'topics' : !known.documents.has(turnId) ? 'documents' : null;
    if (unknown !== null) counts.add(skipped[unknown]);
    return unknown === null;
  });
}
