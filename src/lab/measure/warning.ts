import { freezeDeeply } from '../../core/values/frozen.ts';
import { countUnknownTurns } from '../../data/prepared/counts.ts';
import { describeSmallStratum, findSmallStrata } from '../judging/query-strata.ts';
import type { DatasetSummary, ProtocolWarning } from './result.ts';

/** Every protocol error that is looked for, with one line for people. */
export const PROTOCOL_WARNINGS = freezeDeeply({
  'score-not-finite': 'a score is NaN or infinite; its line does not count',
  'repeated-document': 'a query lists a document twice; the first line counts',
  'scores-ascend': 'scores rise with the rank, as distances do',
  'rank-disagrees-with-score': 'ranks or lines are in another order than the scores, which alone count',
  'ties-out-of-order': 'equal scores are in another order than trec_eval gives them',
  'several-tags': 'one file holds several run tags',
  'shared-tag': 'several files have one run tag',
  'equal-rankings': 'two systems rank the same documents in the same order',
  'unequal-depths': 'the systems rank different numbers of documents',
  'cutoff-beyond-depth': 'a metric looks deeper than a system ranks',
  'cutoff-covers-collection': 'a cut-off or a ranking is as deep as the collection',
  'recall-is-hit-rate': 'every query has one relevant document, so that recall is a hit rate',
  'reported-recall-is-hit-rate': 'a result file reports a hit rate as recall',
  'unknown-documents': 'a system ranks documents that the collection or the judgements do not know',
  'missing-queries': 'a system has no ranking for judged queries, which count 0',
  'unjudged-queries': 'a system ranks queries without judgements, which do not count',
  'unanswerable-queries': 'judged queries have no relevant document, and do not count',
  'small-stratum': 'a stratum has fewer than 50 queries that count, too few to rank systems reliably',
  'query-as-document': 'a query is among its own documents',
  'later-documents': 'a system ranks documents that are not earlier than the query',
  'unreachable-list': 'a turn that one list of an arm alone finds cannot reach the ranks that are measured',
  'unknown-turns': 'judgements name no turn of the dataset, and do not count',
  'tied-end': 'the rankings of an arm end in turns of one score, which are in the order of their ids',
  'unknown-attribute': 'the filter of an arm reads an attribute that no turn has',
} as const);

/** The code of a protocol warning, one of the keys of {@link PROTOCOL_WARNINGS}. */
export type WarningCode = keyof typeof PROTOCOL_WARNINGS;

/** @param system the name of the system; null for a fault of the judgements or of all systems together */
export function describeWarning(code: WarningCode, system: string | null, text: string): ProtocolWarning {
  return { code, system, message: system === null ? text : `${system}: ${text}` };
}

/** A warning for each stratum with too few queries to rank systems. @param strata of the queries that count; undefined if a query has none. */
export function describeSmallStrata(strata: readonly (string | undefined)[]): ProtocolWarning[] {
  return findSmallStrata(strata.map((stratum) => stratum ?? null)).map((small) =>
    describeWarning('small-stratum', null, describeSmallStratum(small)),
  );
}

/** A warning if judgements of a dataset name no turn of it. */
export function describeUnknownTurns({ name, facts }: Pick<DatasetSummary, 'name' | 'facts'>): ProtocolWarning[] {
  const dropped = countUnknownTurns(facts);
  if (dropped === 0) return [];
  const text = `judgements that name no turn of ${name}, and do not count: ${dropped}; correct them, or give their number with the figures`;
  return [describeWarning('unknown-turns', null, text)];
}

/** Examples in a message. */
const SHOWN = 3;

/** The first of some names: `a, b, c, …`. */
export function joinExamples(names: readonly string[]): string {
  return names.slice(0, SHOWN).join(', ') + (names.length > SHOWN ? ', …' : '');
}
