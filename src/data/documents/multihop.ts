import { resolve } from 'node:path';
import type { z } from 'zod';
import { countErrors, ValidationError } from '../../core/errors/errors.ts';
import { readText } from '../../core/files/files.ts';
import { ignoreProgress } from '../../core/terminal/progress.ts';
import { letEventsIn } from '../../core/values/event-loop.ts';
import type { Dataset } from '../../model/dataset.ts';
import { readJson } from '../exports/export-json.ts';
import { Counts } from '../prepared/counts.ts';
import { type DatasetContext, MULTIHOP_LICENCE } from '../prepared/datasets.ts';
import type { Judgement } from '../prepared/prepared.ts';
import { buildDocumentDataset, type SourceDocument } from './document-dataset.ts';
import { type MultihopQuestion, multihopPassages, multihopQuestions, type Passage } from './multihop-schema.ts';

/** A folder, its file of questions and its file of passages. */
export interface MultihopOptions {
  /** The folder with both files. */
  readonly path: string;
  /** The file of questions, in the format of MuSiQue or of HotpotQA. */
  readonly questions: string;
  /** The file of all passages that are searched. */
  readonly passages: string;
}

/** The only grade: a passage that the answer takes. */
const SUPPORT = 1;
const SHOWN = 20;

/**
 * MuSiQue and HotpotQA: a question must find the passages that its answer takes together, among the passages of many questions. See docs/datasets/multihop.md.
 *
 * @throws ValidationError for a file of another form, and for a supporting passage that the file of passages lacks; StorageError if a file cannot be read.
 */
export async function loadMultihop(
  { path, ...files }: MultihopOptions,
  { progress = ignoreProgress }: Partial<DatasetContext> = {},
): Promise<Dataset> {
  const counts = new Counts();
  const [questionFile, passageFile] = [resolve(path, files.questions), resolve(path, files.passages)];
  const stage = progress('passages and questions', 3);
  const passages = await readFile(passageFile, multihopPassages, 'a file of passages');
  stage.update(1);
  await letEventsIn();
  const questions = await readFile(questionFile, multihopQuestions, 'a file of questions of MuSiQue or HotpotQA');
  stage.update(2);
  await letEventsIn();
  const collection = collectPassages(passages, counts);
  stage.finish(`${questions.length} questions`);
  await letEventsIn();
  return buildDocumentDataset(
    {
      documents: collection.documents,
      questions: questions.map(({ id, text, kind }) => ({ id, text, kind })),
      judgements: judge(questions, collection.idOf, passageFile),
    },
    {
      name: 'multihop',
      path: questionFile,
      task: 'a question must find the passages that its answer takes together, among the passages of all questions',
      licence: MULTIHOP_LICENCE,
      relevantGrade: SUPPORT,
      gradeNames: { [SUPPORT]: 'supporting passage' },
    },
    counts,
  );
}

function readFile<S extends z.ZodType>(path: string, schema: S, expected: string): Promise<z.output<S>> {
  return readJson(
    { name: path, where: path, readText: async () => readText(path).replace(/^\ufeff/, '') },
    schema,
    expected,
  );
}

/** A passage is recognised by title and text: titles alone are not distinct. */
function keyOf({ title, text }: Passage): string {
  return JSON.stringify([title, text]);
}

/** The passages by their place in the file; repeated and empty ones are left out and counted. */
function collectPassages(passages: readonly Passage[], counts: Counts) {
  const idOf = new Map<string, string>();
  const documents: SourceDocument[] = [];
  for (const skipped of ['repeated passages', 'passages without a text']) counts.add(`skipped: ${skipped}`, 0);
  for (const [i, passage] of passages.entries()) {
    const { title, text } = passage;
    const key = keyOf(passage);
    if (text.trim() === '') counts.add('skipped: passages without a text');
    else if (idOf.has(key)) counts.add('skipped: repeated passages');
    else {
      const id = `p${i}`;
      idOf.set(key, id);
      documents.push({ id, title, text: `${title}\n${text}` });
    }
  }
  return { documents, idOf };
}

/** @throws ValidationError that names supporting passages which the file of passages lacks. */
function judge(
  questions: readonly MultihopQuestion[],
  idOf: ReadonlyMap<string, string>,
  passageFile: string,
): Judgement[] {
  const missing: string[] = [];
  const judgements = questions.flatMap(({ id: queryId, support, unknown }) => {
    missing.push(...unknown.map((title) => `question ${queryId}: ${JSON.stringify(title)}`));
    return support.flatMap((passage) => {
      const turnId = idOf.get(keyOf(passage));
      if (turnId !== undefined) return [{ queryId, turnId, grade: SUPPORT }];
      missing.push(`question ${queryId}: ${JSON.stringify(passage.title)}`);
      return [];
    });
  });
  if (missing.length === 0) return judgements;
  const lines = missing.slice(0, SHOWN).map((line) => `  ${line}`);
  if (missing.length > SHOWN) lines.push(`  and ${missing.length - SHOWN} more`);
  throw new ValidationError(
    `${countErrors(missing.length)}, supporting passages that ${passageFile} lacks; name the passages of these questions:\n${lines.join('\n')}`,
    { passages: passageFile, missing },
  );
}
