import { ValidationError } from '../../core/errors/errors.ts';
import { computeHash } from '../../core/hash/hash.ts';
import type { Dataset, Query } from '../../model/dataset.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import type { Turn } from '../../model/turns/turn.ts';
import {
  type Counts,
  chooseSplitByHash,
  countUndecodable,
  displayDataset,
  groupJudgements,
  type Judgement,
} from '../prepared/prepared.ts';

/** A document of a collection. */
export interface SourceDocument {
  readonly id: string;
  readonly title: string | null;
  /** What is searched, the title included. */
  readonly text: string;
}

/** A question to a collection. */
export interface SourceQuestion {
  readonly id: string;
  readonly text: string;
  readonly kind?: string;
}

/** What a collection is read from. */
export interface DocumentCollection {
  readonly documents: readonly SourceDocument[];
  readonly questions: readonly SourceQuestion[];
  /** Of documents and questions that there are. */
  readonly judgements: readonly Judgement[];
}

/** What distinguishes one dataset of documents from another. */
export interface DocumentDatasetOptions {
  readonly name: string;
  readonly path: string;
  readonly task: string;
  readonly licence: string;
  readonly relevantGrade: number;
  readonly gradeNames: Readonly<Record<number, string>>;
}

/** Documents have no time: all have one, and every question comes after it. */
const DOCUMENT_TIME = 0;
const QUESTION_TIME = 1;

/**
 * A dataset of documents: each is a conversation of one turn, and every question sees all of them. Questions without a relevant document are left out
 * and counted. Encoders may be fitted on all documents, since no document is a question.
 *
 * @throws ValidationError for ids that occur twice, and if no question has a relevant document.
 */
export function buildDocumentDataset(
  { documents, questions, judgements }: DocumentCollection,
  { path, task, licence, ...options }: DocumentDatasetOptions,
  counts: Counts,
): Dataset {
  const corpus = new Corpus(documents.map(buildDocumentTurn));
  const asked = selectAnswered(questions, judgements, options.relevantGrade);
  counts.add('skipped: questions without a relevant document', questions.length - asked.length);
  if (asked.length === 0)
    throw new ValidationError(
      `no question has a relevant document in: ${path}; name questions and judgements of one collection`,
      {
        path,
      },
    );
  const queries = asked.map(buildQuestion);
  assertDistinctIds(queries, path);
  const ids = new Set(queries.map(({ id }) => id));
  const kept = judgements.filter(({ queryId }) => ids.has(queryId));
  countCollection(corpus, queries, kept, counts);
  return displayDataset({
    ...options,
    declaration: { task, features: ['text', 'title'], licence, times: 'none', threads: 'none' },
    corpus,
    queries,
    qrels: groupJudgements(queries, kept),
    devConversations: new Set(corpus.conversations.map(({ id }) => id)),
    facts: counts.toFacts(),
    // A text of all turns could be longer than JavaScript allows.
    hash: computeHash([corpus.turns.map(computeHash), queries, kept, options.relevantGrade]),
  });
}

function buildDocumentTurn({ id, title, text }: SourceDocument): Turn {
  return {
    id,
    conversationId: id,
    parentId: null,
    timestamp: DOCUMENT_TIME,
    author: null,
    channel: null,
    text,
    attributes: { source: 'documents', ...(title === null ? {} : { title }) },
  };
}

function buildQuestion({ id, text, kind }: SourceQuestion): Query {
  return {
    id,
    text,
    timestamp: QUESTION_TIME,
    anchorTurnId: null,
    author: null,
    channel: null,
    ...(kind === undefined ? {} : { kind }),
    split: chooseSplitByHash(id),
    cluster: id,
  };
}

function selectAnswered(
  questions: readonly SourceQuestion[],
  judgements: readonly Judgement[],
  relevantGrade: number,
): SourceQuestion[] {
  const answered = new Set(judgements.filter(({ grade }) => grade >= relevantGrade).map(({ queryId }) => queryId));
  return questions.filter(({ id }) => answered.has(id));
}

function assertDistinctIds(queries: readonly Query[], path: string): void {
  const known = new Set<string>();
  for (const { id } of queries) {
    if (known.has(id))
      throw new ValidationError(`duplicate question id in ${path}: ${id}; rename one question`, { path, id });
    known.add(id);
  }
}

function countCollection(
  corpus: Corpus,
  queries: readonly Query[],
  judgements: readonly Judgement[],
  counts: Counts,
): void {
  countUndecodable([...corpus.turns, ...queries], counts);
  counts.add('documents', corpus.size);
  counts.add('queries', queries.length);
  for (const split of ['dev', 'test'] as const)
    counts.add(`queries, ${split}`, queries.filter((query) => query.split === split).length);
  const kinds = queries.flatMap(({ kind }) => kind ?? []).sort();
  for (const kind of kinds) counts.add(`queries, ${kind}`);
  counts.add('judgements', judgements.length);
}
