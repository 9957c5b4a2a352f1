import { resolve } from 'node:path';
import { z } from 'zod';
import { countErrors, ValidationError } from '../../core/errors/errors.ts';
import { readText } from '../../core/files/files.ts';
import { ignoreProgress, letEventsIn } from '../../core/terminal/progress.ts';
import type { Dataset } from '../../model/dataset.ts';
import { readJson } from '../exports/export-files.ts';
import { id } from '../jsonl/jsonl-rows.ts';
import { type DatasetContext, MULTIHOP_LICENCE } from '../prepared/datasets.ts';
import { Counts, type Judgement } from '../prepared/prepared.ts';
import { buildDocumentDataset, type SourceDocument } from './document-dataset.ts';

const filled = z.string().refine((value) => value.trim() !== '', 'a text that is not empty');
const sentences = z.array(z.string());

/** A passage by what it is recognised by. */
interface Passage {
  readonly title: string;
  readonly text: string;
}

/** A question with the passages that its answer takes together. */
interface MultihopQuestion {
  readonly id: string;
  readonly text: string;
  /** The source, and its sort of question. */
  readonly kind: string;
  readonly support: readonly Passage[];
  /** Titles that support the answer, of which the question has no text. */
  readonly unknown: readonly string[];
}

/** MuSiQue: paragraphs, each supporting or not. Its ids start with the number of hops. */
const musiqueQuestion = z
  .object({
    id,
    question: filled,
    paragraphs: z.array(z.object({ title: z.string(), paragraph_text: z.string(), is_supporting: z.boolean() })),
  })
  .transform(({ id: own, question, paragraphs }): MultihopQuestion => {
    const hops = /^(\d+)hop/.exec(own)?.[1];
    const support = paragraphs.filter(({ is_supporting }) => is_supporting);
    return {
      id: own,
      text: question,
      kind: hops === undefined ? 'musique' : `musique, ${hops} hops`,
      support: support.map(({ title, paragraph_text }) => ({ title, text: paragraph_text })),
      unknown: [],
    };
  });

/** HotpotQA: titles with sentences, and the sentences that support the answer, by title and number. */
const hotpotQuestion = z
  .object({
    _id: id,
    question: filled,
    type: filled.optional(),
    supporting_facts: z.array(z.tuple([z.string(), z.number()])),
    context: z.array(z.tuple([z.string(), sentences])),
  })
  .transform(({ _id, question, type, supporting_facts, context }): MultihopQuestion => {
    const titles = new Set(supporting_facts.map(([title]) => title));
    const support = context.filter(([title]) => titles.has(title));
    for (const [title] of context) titles.delete(title);
    return {
      id: _id,
      text: question,
      kind: type === undefined ? 'hotpotqa' : `hotpotqa, ${type}`,
      support: support.map(([title, parts]) => ({ title, text: parts.join('') })),
      unknown: [...titles],
    };
  });

/** The questions of a file: of HotpotQA if they have supporting facts, else of MuSiQue. */
const multihopQuestions = z.array(
  z.unknown().transform((input, context): MultihopQuestion => {
    const isHotpot = typeof input === 'object' && input !== null && 'supporting_facts' in input;
    const { data, error } = (isHotpot ? hotpotQuestion : musiqueQuestion).safeParse(input);
    if (data !== undefined) return data;
    for (const issue of error.issues) context.addIssue({ ...issue } as never);
    return z.NEVER;
  }),
);

const passageList = z.array(z.object({ title: z.string(), text: z.string() }));
const passagesByTitle = z
  .record(z.string(), sentences)
  .transform((record) => Object.entries(record).map(([title, parts]): Passage => ({ title, text: parts.join('') })));

/** The passages of a file: a list with titles and texts, or sentences by title. */
const multihopPassages = z.unknown().transform((input, context): readonly Passage[] => {
  const { data, error } = (Array.isArray(input) ? passageList : passagesByTitle).safeParse(input);
  if (data !== undefined) return data;
  for (const issue of error.issues) context.addIssue({ ...issue } as never);
  return z.NEVER;
});

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
