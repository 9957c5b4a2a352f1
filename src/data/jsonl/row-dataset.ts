import { ValidationError } from '../../core/errors/errors.ts';
import { computeHashInSteps } from '../../core/hash/hash.ts';
import { finishSteps, type Steps } from '../../core/terminal/progress.ts';
import type { Dataset } from '../../model/dataset.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import type { Counts } from '../prepared/counts.ts';
import { displayDataset } from '../prepared/dataset-display.ts';
import { groupJudgements } from '../prepared/prepared.ts';
import { countUndecodable } from '../prepared/undecodable.ts';
import { selectSoundJudgements, selectSoundQueries } from './jsonl-queries.ts';
import type { Located, QrelRow, QueryRow, TurnRow } from './jsonl-rows.ts';
import { splitQueries } from './jsonl-split.ts';
import { selectSoundTurns } from './jsonl-turns.ts';
import type { RowFaults } from './row-faults.ts';

/** Rows that fit their schemas, wherever they come from. */
interface LocatedRows {
  readonly turns: readonly Located<TurnRow>[];
  readonly queries: readonly Located<QueryRow>[];
  readonly judgements: readonly Located<QrelRow>[];
}

/** What distinguishes one source of rows from another. */
interface RowSource {
  /** Of the dataset. */
  readonly name: string;
  readonly licence: string;
  /** Where the judgements are. */
  readonly judgedBy: string;
  /** The least grade that counts as relevant. */
  readonly relevantGrade: number;
  /** Ends reading, see {@link RowFaults.settle}. */
  readonly settle: () => Counts;
  /** How messages name one of the lists. */
  readonly describeList: (list: 'turns' | 'queries') => string;
}

/** What rows tell without attributes. */
const FEATURES = ['text', 'time', 'author', 'channel', 'reply links'];

/**
 * The dataset that rows make: rows that belong together, split into dev and test.
 *
 * @throws ValidationError for invalid rows unless they are skipped, and if no turn or no query is left.
 */
export function buildRowDataset(rows: LocatedRows, faults: RowFaults, source: RowSource): Dataset {
  return finishSteps(buildRowDatasetInSteps(rows, faults, source));
}

/** The most steps of {@link buildRowDatasetInSteps}: a few, and one for each row that is hashed. */
export function countRowDatasetSteps({ turns, queries, judgements }: LocatedRows): number {
  return 6 + turns.length + queries.length + judgements.length;
}

/** {@link buildRowDataset} in steps, of which the longest builds the corpus. */
export function* buildRowDatasetInSteps(rows: LocatedRows, faults: RowFaults, source: RowSource): Steps<Dataset> {
  const { name, licence, judgedBy, relevantGrade, settle, describeList } = source;
  const turns = selectSoundTurns(rows.turns, faults);
  yield;
  const asked = selectSoundQueries(rows.queries, turns, faults);
  yield;
  const judgements = selectSoundJudgements(rows.judgements, asked, turns, faults);
  yield;
  const counts = settle();
  if (turns.length === 0)
    throw new ValidationError(`no turn in ${describeList('turns')}; add turns, or correct the skipped rows`);
  if (asked.length === 0)
    throw new ValidationError(`no query in ${describeList('queries')}; add queries, or correct the skipped rows`);
  const corpus = new Corpus(turns);
  yield;
  const { queries, devConversations } = splitQueries(corpus, asked);
  countUndecodable([...turns, ...asked], counts);
  yield;
  counts.add('messages', corpus.size);
  counts.add('conversations', corpus.conversations.length);
  counts.add('queries', queries.length);
  for (const split of ['dev', 'test'] as const)
    counts.add(`queries, ${split}`, queries.filter((query) => query.split === split).length);
  counts.add('judgements', judgements.length);
  const hash = yield* computeHashInSteps({ turns: corpus.turns, queries, judgements, relevantGrade });
  yield;
  return displayDataset({
    name,
    declaration: {
      task: `each query must find the messages that ${judgedBy} judges, among all strictly earlier ones`,
      features: [...FEATURES, ...(turns.some(({ attributes }) => attributes !== undefined) ? ['attributes'] : [])],
      licence,
    },
    corpus,
    queries,
    qrels: groupJudgements(queries, judgements),
    relevantGrade,
    gradeNames: {},
    devConversations,
    facts: counts.toFacts(),
    hash,
  });
}
