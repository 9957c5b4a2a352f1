import { computeHash } from '../../core/hash/hash.ts';
import type { Dataset, Query } from '../../model/dataset.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import { SYNTHETIC_LICENCE, type SyntheticOptions } from '../prepared/datasets.ts';
import { Counts, displayDataset, findTestStart, isDev } from '../prepared/prepared.ts';
import { drawPlantedConversations, type PlantedConversations, type PlantedQuery } from './planted-conversations.ts';

const RELEVANT = 1;

/** The first 70 % of the conversations. */
function chooseDevConversations({ planted, turns }: PlantedConversations): Set<string> {
  const first = new Map<string, number>();
  for (const { conversationId, timestamp } of turns)
    if (!first.has(conversationId)) first.set(conversationId, timestamp);
  const starts = planted.map(({ query: { cluster: id } }) => ({ id, timestamp: first.get(id) as number }));
  const testStart = findTestStart(starts);
  return new Set(starts.filter((start) => isDev(start, testStart)).map(({ id }) => id));
}

/** The turns on the topic: the relevant one 1, the others 0. */
function judge({ matched, relevant }: PlantedQuery): ReadonlyMap<string, number> {
  return new Map(matched.map((id) => [id, id === relevant ? RELEVANT : 0]));
}

function countPlanted(corpus: Corpus, planted: readonly PlantedQuery[], queries: readonly Query[]): Counts {
  const counts = new Counts();
  counts.add('conversations', corpus.conversations.length);
  counts.add('messages', corpus.size);
  counts.add('queries', queries.length);
  for (const split of ['dev', 'test'] as const)
    counts.add(`queries, ${split}`, queries.filter((query) => query.split === split).length);
  for (const { dependency, indicated, relevant } of planted) {
    counts.add(`queries, ${dependency}`);
    counts.add('queries whose relevant turn the dependency indicates', indicated === relevant ? 1 : 0);
  }
  return counts;
}

/** The dataset of planted conversations. */
export function buildPlantedDataset(drawn: PlantedConversations): Dataset {
  const { turns, planted } = drawn;
  const corpus = new Corpus(turns);
  const devConversations = chooseDevConversations(drawn);
  const queries = planted
    .map(({ query }): Query => ({ ...query, split: devConversations.has(query.cluster) ? 'dev' : 'test' }))
    .sort((a, b) => a.timestamp - b.timestamp);
  const qrels = new Map(planted.map((one) => [one.query.id, judge(one)]));
  return displayDataset({
    name: 'synthetic',
    declaration: {
      task: 'a query must find the one relevant turn of its conversation among turns that are equally similar to it',
      features: ['text', 'time', 'reply links', "the turn that the query answers, in the asker's branch"],
      licence: SYNTHETIC_LICENCE,
    },
    corpus,
    queries,
    qrels,
    relevantGrade: RELEVANT,
    gradeNames: { [RELEVANT]: 'relevant' },
    devConversations,
    facts: countPlanted(corpus, planted, queries).toFacts(),
    hash: computeHash({ turns: corpus.turns, queries, judgements: planted.map(({ relevant }) => relevant) }),
  });
}

/**
 * Invented conversations in which the relevant turn depends on time, thread, entity or correction; see docs/datasets/synthetic.md.
 *
 * @throws ConfigurationError for options out of range.
 */
export async function loadSynthetic({ name: _, ...options }: SyntheticOptions): Promise<Dataset> {
  return buildPlantedDataset(drawPlantedConversations(options));
}
