import { ValidationError } from '../../core/errors.ts';
import { computeHash } from '../../core/hash.ts';
import { Corpus } from '../../model/corpus.ts';
import type { Dataset } from '../../model/dataset.ts';
import { countUndecodable } from '../mail/undecodable.ts';
import { groupJudgements } from '../prepared.ts';
import { selectSoundJudgements, selectSoundQueries } from './jsonl-queries.ts';
import { queryRow, readQrels, readRows, turnRow } from './jsonl-rows.ts';
import { splitQueries } from './jsonl-split.ts';
import { selectSoundTurns } from './jsonl-turns.ts';
import { type OnDirtyRow, RowFaults } from './row-faults.ts';

export interface JsonlOptions {
  /** The folder with turns.jsonl, queries.jsonl and qrels.txt. */
  readonly path: string;
  /** The treatment of invalid rows: one error that names them all, or a count of them in the facts. */
  readonly onDirtyRow: OnDirtyRow;
  /** The least grade that counts as relevant. */
  readonly relevantGrade: number;
}

/**
 * Your own conversations, questions and judgements. The format is in docs/datasets/jsonl.md.
 *
 * @throws ValidationError for invalid rows unless they are skipped, and if no turn or no query is left; StorageError if a file cannot be read.
 */
export async function loadJsonl(options: JsonlOptions): Promise<Dataset> {
  const { path, onDirtyRow, relevantGrade } = options;
  const faults = new RowFaults();
  const turns = selectSoundTurns(readRows(path, 'turns.jsonl', turnRow, faults), faults);
  const rows = selectSoundQueries(readRows(path, 'queries.jsonl', queryRow, faults), turns, faults);
  const judgements = selectSoundJudgements(readQrels(path, 'qrels.txt', faults), rows, turns, faults);
  const counts = faults.settle(path, onDirtyRow);
  if (turns.length === 0)
    throw new ValidationError(`no turn in turns.jsonl of: ${path}; add turns, or correct the skipped rows`, { path });
  if (rows.length === 0)
    throw new ValidationError(`no query in queries.jsonl of: ${path}; add queries, or correct the skipped rows`, {
      path,
    });
  const corpus = new Corpus(turns);
  const { queries, devConversations } = splitQueries(corpus, rows);
  countUndecodable([...turns, ...rows], counts);
  counts.add('messages', corpus.size);
  counts.add('conversations', corpus.conversations.length);
  counts.add('queries', queries.length);
  for (const split of ['dev', 'test'] as const)
    counts.add(`queries, ${split}`, queries.filter((query) => query.split === split).length);
  counts.add('judgements', judgements.length);
  return {
    name: 'jsonl',
    declaration: {
      task: 'each query must find the messages that qrels.txt judges, among all strictly earlier ones',
      features: ['text', 'time', 'author', 'channel', 'reply links'],
      licence: 'that of the data in the folder',
    },
    corpus,
    queries,
    qrels: groupJudgements(queries, judgements),
    relevantGrade,
    gradeNames: {},
    devConversations,
    facts: counts.toFacts(),
    hash: computeHash({ turns: corpus.turns, queries, judgements, relevantGrade }),
  };
}
