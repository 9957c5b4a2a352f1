import { ListHash } from '../../core/hash/hash.ts';
import { getOrCompute } from '../../core/values/once.ts';
import { parseMetric } from '../../eval/metrics/metric.ts';
import type { Qrels, Run } from '../../model/run.ts';
import { compareBytes } from '../../model/turns/tie-rule.ts';
import type { ProtocolWarning } from './result.ts';
import type { System } from './system.ts';
import { describeSmallStrata, describeWarning, joinExamples } from './warning.ts';

/** All that the protocol of a comparison consists of. */
export interface Protocol {
  readonly systems: readonly System[];
  readonly qrels: Qrels;
  readonly metrics: readonly string[];
  readonly relevantGrade: number;
  /** The ids of the collection; null if they are unknown. */
  readonly documents: ReadonlySet<string> | null;
  /** The number of documents that a typical query can see, where queries see parts of the collection. */
  readonly visibleDocuments?: number;
  /** The stratum of each query that has one. */
  readonly strata?: ReadonlyMap<string, string>;
}

function countRelevant(judgements: ReadonlyMap<string, number>, relevantGrade: number): number {
  return [...judgements.values()].filter((grade) => grade >= relevantGrade).length;
}

/** The greatest number of documents of a judged query. */
function measureDepth(run: Run, qrels: Qrels): number {
  let most = 0;
  for (const [id, ranking] of run) if (qrels.has(id)) most = Math.max(most, ranking.length);
  return most;
}

/** A system by its name, and its depth, see {@link measureDepth}. */
interface Depth {
  readonly name: string;
  readonly depth: number;
}

function warnOfDepths(depths: readonly Depth[]): ProtocolWarning[] {
  if (new Set(depths.map(({ depth }) => depth)).size < 2) return [];
  const text = depths.map(({ name, depth }) => `${name} ${depth}`).join(', ');
  return [
    describeWarning(
      'unequal-depths',
      null,
      `the systems rank different numbers of documents (${text}); metrics without a cut-off favour the deeper one, so cut all to one depth`,
    ),
  ];
}

function warnOfCutoffs({ metrics }: Protocol, depths: readonly Depth[]): ProtocolWarning[] {
  return depths.flatMap(({ name, depth }) => {
    const deeper = metrics.filter((metric) => (parseMetric(metric).cutoff ?? 0) > depth);
    if (depth === 0 || deeper.length === 0) return [];
    const text = `ranks at most ${depth} documents, fewer than ${deeper.join(', ')} look at; the figure is that of cut-off ${depth}, so use a smaller cut-off or a deeper run`;
    return [describeWarning('cutoff-beyond-depth', name, text)];
  });
}

function* listNamedDocuments({ systems, qrels }: Protocol): Generator<string> {
  for (const judgements of qrels.values()) yield* judgements.keys();
  for (const { run } of systems) for (const ranking of run.values()) for (const { id } of ranking) yield id;
}

/** The documents of the collection, or where it is unknown, those that runs and judgements name, if at most `most`. */
function countDocuments(protocol: Protocol, most: number): number {
  if (protocol.documents !== null) return protocol.documents.size;
  const named = new Set<string>();
  for (const id of listNamedDocuments(protocol)) if (named.add(id).size > most) break;
  return named.size;
}

function warnOfCollectionSize(protocol: Protocol, depths: readonly Depth[]): ProtocolWarning[] {
  const { metrics, documents } = protocol;
  const { visibleDocuments } = protocol;
  const cutoffs = metrics.map((metric) => parseMetric(metric).cutoff ?? 0);
  const size = visibleDocuments ?? countDocuments(protocol, Math.max(...cutoffs, ...depths.map(({ depth }) => depth)));
  const collection =
    visibleDocuments === undefined ? 'documents of the collection' : 'documents that half of the queries see';
  const whose = documents === null ? 'documents that the files name' : collection;
  const covering = metrics.filter((_, m) => (cutoffs[m] as number) >= size);
  const deep = depths.filter(({ depth }) => depth >= size).map(({ name }) => name);
  if (covering.length + deep.length === 0) return [];
  const text = `${[...covering, ...deep].join(', ')}: as deep as the ${size} ${whose}; recall is 1 whatever the system does, so use a smaller cut-off`;
  return [describeWarning('cutoff-covers-collection', null, text)];
}

function warnOfRecall({ qrels, metrics, relevantGrade }: Protocol): ProtocolWarning[] {
  const recalls = metrics.filter((metric) => metric.startsWith('recall@'));
  const counts = [...qrels.values()].map((judgements) => countRelevant(judgements, relevantGrade));
  const answerable = counts.filter((count) => count > 0);
  if (recalls.length === 0 || answerable.length === 0 || answerable.some((count) => count > 1)) return [];
  const text = `every query has one relevant document, so that ${recalls.join(', ')} is a hit rate; report it as success, or judge more documents`;
  return [describeWarning('recall-is-hit-rate', null, text)];
}

/** The distinct documents of the judged queries of a run; null as soon as there is one that `isKnown` accepts. */
function collectUnlessKnown(run: Run, qrels: Qrels, isKnown: (id: string) => boolean): Set<string> | null {
  const ranked = new Set<string>();
  for (const [queryId, ranking] of run) {
    if (!qrels.has(queryId)) continue;
    for (const { id } of ranking) {
      if (isKnown(id)) return null;
      ranked.add(id);
    }
  }
  return ranked;
}

function warnOfUnknownDocuments({ systems, qrels, documents }: Protocol): ProtocolWarning[] {
  const judged = documents ?? new Set(Array.from(qrels.values(), (judgements) => [...judgements.keys()]).flat());
  return systems.flatMap(({ name, run }) => {
    if (documents === null) {
      const ranked = collectUnlessKnown(run, qrels, (id) => judged.has(id));
      if (ranked === null || ranked.size === 0) return [];
      const text = `none of its ${ranked.size} documents is judged for any query (${joinExamples([...ranked])}); check that run and judgements use the same ids`;
      return [describeWarning('unknown-documents', name, text)];
    }
    const ranked = collectUnlessKnown(run, qrels, () => false) as Set<string>;
    const unknown = [...ranked].filter((id) => !documents.has(id));
    if (unknown.length === 0) return [];
    const text = `${unknown.length} of its ${ranked.size} documents are not in the collection (${joinExamples(unknown)}) and count as not relevant; correct their ids`;
    return [describeWarning('unknown-documents', name, text)];
  });
}

function warnOfQueries({ systems, qrels }: Protocol): ProtocolWarning[] {
  return systems.flatMap(({ name, run }) => {
    const missing = [...qrels.keys()].filter((id) => (run.get(id) ?? []).length === 0);
    const unjudged = [...run.keys()].filter((id) => !qrels.has(id));
    const missed = `${missing.length} of ${qrels.size} judged queries have no ranking and count 0 (${joinExamples(missing)}); add their rankings`;
    const extra = `${unjudged.length} queries have no judgements and do not count (${joinExamples(unjudged)}); add judgements or remove the queries`;
    return [
      ...(missing.length === 0 ? [] : [describeWarning('missing-queries', name, missed)]),
      ...(unjudged.length === 0 ? [] : [describeWarning('unjudged-queries', name, extra)]),
    ];
  });
}

function warnOfUnanswerable({ qrels, relevantGrade }: Protocol): ProtocolWarning[] {
  const ids = Array.from(qrels).flatMap(([id, judgements]) =>
    countRelevant(judgements, relevantGrade) === 0 ? [id] : [],
  );
  if (ids.length === 0) return [];
  const text = `${ids.length} of ${qrels.size} judged queries have no relevant document and do not count (${joinExamples(ids)}); trec_eval counts them with 0`;
  return [describeWarning('unanswerable-queries', null, text)];
}

/** Queries without a relevant document do not count, and are in no stratum. */
function warnOfSmallStrata({ qrels, strata, relevantGrade }: Protocol): ProtocolWarning[] {
  if (strata === undefined) return [];
  const counted = Array.from(qrels).filter(([, judgements]) => countRelevant(judgements, relevantGrade) > 0);
  return describeSmallStrata(counted.map(([id]) => strata.get(id)));
}

function warnOfQueryDocuments({ systems, qrels }: Protocol): ProtocolWarning[] {
  const judged = Array.from(qrels).flatMap(([id, judgements]) => (judgements.has(id) ? [id] : []));
  const text = (count: number, where: string, ids: readonly string[]) =>
    `${count} queries are among their own ${where} documents (${joinExamples(ids)}); remove a query from what answers it`;
  const ofJudgements =
    judged.length === 0 ? [] : [describeWarning('query-as-document', null, text(judged.length, 'judged', judged))];
  const ofSystems = systems.flatMap(({ name, run }) => {
    const ids: string[] = [];
    for (const [queryId, ranking] of run) if (ranking.some(({ id }) => id === queryId)) ids.push(queryId);
    return ids.length === 0 ? [] : [describeWarning('query-as-document', name, text(ids.length, 'ranked', ids))];
  });
  return [...ofJudgements, ...ofSystems];
}

/** One warning for each group of files, with the tags that these files share. */
function warnOfSharedTags({ systems }: Protocol): ProtocolWarning[] {
  const files = new Map<string, string[]>();
  for (const { tags, source } of systems)
    for (const tag of tags) getOrCompute(files, tag, () => [] as string[]).push(source);
  const groups = new Map<string, { readonly sources: readonly string[]; readonly tags: string[] }>();
  for (const [tag, sources] of files)
    if (sources.length > 1)
      getOrCompute(groups, JSON.stringify(sources), () => ({ sources, tags: [] as string[] })).tags.push(tag);
  return Array.from(groups.values(), ({ sources, tags }) => {
    const shared = tags.length === 1 ? `tag ${tags[0]}` : `tags ${joinExamples(tags)}`;
    const text = `${sources.length} files have the run ${shared} (${joinExamples(sources)}); give each system a tag of its own`;
    return describeWarning('shared-tag', null, text);
  });
}

function warnOfEqualRankings({ systems }: Protocol): ProtocolWarning[] {
  if (systems.length < 2) return [];
  const hash = ({ run }: System) => {
    const list = new ListHash();
    for (const id of [...run.keys()].sort(compareBytes)) list.add([id, ...(run.get(id) ?? []).map((one) => one.id)]);
    return list.read();
  };
  const rankings = systems.map(hash);
  return systems.flatMap(({ name }, i) => {
    const first = rankings.indexOf(rankings[i] as string);
    if (first === i) return [];
    const text = `ranks the same documents in the same order as ${systems[first]?.name}; check that the files are of two systems`;
    return [describeWarning('equal-rankings', name, text)];
  });
}

/**
 * The errors of protocol of a comparison of run files, one warning each: those of the lines of each file first, then those of the systems, of the judgements
 * and of the metrics. See `PROTOCOL_WARNINGS` for the list.
 */
export function findProtocolWarnings(protocol: Protocol): ProtocolWarning[] {
  const depths = protocol.systems.map(({ name, run }) => ({ name, depth: measureDepth(run, protocol.qrels) }));
  return [
    ...protocol.systems.flatMap(({ warnings }) => warnings),
    ...warnOfSharedTags(protocol),
    ...warnOfEqualRankings(protocol),
    ...warnOfDepths(depths),
    ...warnOfCutoffs(protocol, depths),
    ...warnOfCollectionSize(protocol, depths),
    ...warnOfRecall(protocol),
    ...warnOfUnknownDocuments(protocol),
    ...warnOfQueries(protocol),
    ...warnOfUnanswerable(protocol),
    ...warnOfSmallStrata(protocol),
    ...warnOfQueryDocuments(protocol),
  ];
}
