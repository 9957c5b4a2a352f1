import { computeHash } from '../../core/hash/hash.ts';
import type { Dataset, Query } from '../../model/dataset.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import { CORRECTIONS_LICENCE, type CorrectionsOptions } from '../prepared/datasets.ts';
import { Counts, displayDataset, findTestStart, isDev } from '../prepared/prepared.ts';
import { type AskedCorrection, type DrawnCorrections, drawCorrections } from './draw-corrections.ts';

/** The grades of a question: superseded turns are judged not relevant. */
function judge({ relevant, superseded }: AskedCorrection): ReadonlyMap<string, number> {
  return new Map([
    ...Array.from(superseded.keys(), (id) => [id, 0] as const),
    ...relevant.map((id) => [id, 1] as const),
  ]);
}

/** The dataset of drawn conversations, with their answer key. */
export function buildCorrectionsDataset({ turns, asked }: DrawnCorrections): Dataset {
  const corpus = new Corpus(turns);
  const starts = corpus.conversations.map(({ id, turns: [first] }) => ({ id, timestamp: first?.timestamp as number }));
  const testStart = findTestStart(starts);
  const devConversations = new Set(starts.filter((start) => isDev(start, testStart)).map(({ id }) => id));
  const queries = asked
    .map(({ query }): Query => ({ ...query, split: devConversations.has(query.cluster) ? 'dev' : 'test' }))
    .sort((a, b) => a.timestamp - b.timestamp);
  const counts = new Counts();
  counts.add('conversations', corpus.conversations.length);
  counts.add('messages', corpus.size);
  counts.add('messages with a fact', corpus.turns.filter(({ attributes }) => attributes !== undefined).length);
  for (const { split } of queries) counts.add(`queries, ${split}`);
  for (const { kind } of queries) counts.add(`queries, ${kind}`);
  for (const { superseded } of asked) counts.add('superseded turns of queries', superseded.size);
  const superseded = new Map(asked.map(({ query, superseded: own }) => [query.id, own]));
  return displayDataset({
    name: 'corrections',
    declaration: {
      task: 'a question about a person must find the turns that state what holds when the question is asked',
      features: ['text', 'time', 'author', 'reply links', 'facts that were extracted from statements'],
      licence: CORRECTIONS_LICENCE,
    },
    corpus,
    queries,
    qrels: new Map(asked.map((one) => [one.query.id, judge(one)])),
    superseded,
    relevantGrade: 1,
    gradeNames: { 1: 'states what holds' },
    devConversations,
    facts: counts.toFacts(),
    hash: computeHash({
      turns: corpus.turns,
      queries,
      key: asked.map(({ relevant, superseded: own }) => [relevant, [...own]]),
    }),
  });
}

/**
 * Invented conversations in which facts about people are corrected; see docs/datasets/corrections.md.
 *
 * @throws ConfigurationError for options out of range.
 */
export async function loadCorrections({ name: _, ...options }: CorrectionsOptions): Promise<Dataset> {
  return buildCorrectionsDataset(drawCorrections(options));
}
