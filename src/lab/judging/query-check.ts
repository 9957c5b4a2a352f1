import { listSharedContentStems } from '../../model/text/tokens.ts';
import { type AuthoredQuery, type DocumentText, QUERY_STRATA } from './query-file.ts';

/** What is wrong with a query of a test collection. */
export interface QueryFault {
  readonly queryId: string;
  /** With what to do. */
  readonly message: string;
}

type Sources = readonly (DocumentText & { readonly id: string })[];

/** Words of a sensitive text are counted, not shown. */
function describeShared({ id, text, sensitive }: Sources[number], query: AuthoredQuery): string[] {
  const shared = listSharedContentStems(query.text, text);
  if (shared.length === 0) return [];
  const shown = sensitive || query.sensitive ? `${shared.length} content words` : `content words ${shared.join(', ')}`;
  return [`paraphrase shares ${shown} with its source ${id}; use other words`];
}

/** What each stratum demands of the sources of a query. */
const DEMANDS: Readonly<Record<(typeof QUERY_STRATA)[number], (query: AuthoredQuery, sources: Sources) => string[]>> =
  Object.freeze({
    exact: (query, sources) => {
      if (sources.length === 0 || sources.some(({ text }) => listSharedContentStems(query.text, text).length > 0))
        return [];
      return ['exact query shares no content word with a source; repeat words of a source, or use another kind'];
    },
    paraphrase: (query, sources) => {
      if (sources.length === 0) return ['paraphrase has no sources; add the ids of the documents that it paraphrases'];
      return sources.flatMap((source) => describeShared(source, query));
    },
    'multi-hop': (_, sources) =>
      sources.length >= 2 ? [] : [`multi-hop query has ${sources.length} sources; add at least 2, or use another kind`],
  });

function isStratum(stratum: string | null): stratum is (typeof QUERY_STRATA)[number] {
  return (QUERY_STRATA as readonly (string | null)[]).includes(stratum);
}

function checkQuery(query: AuthoredQuery, documents: ReadonlyMap<string, DocumentText>): string[] {
  const { stratum, generator } = query;
  const sources = query.sources.flatMap((id) => {
    const found = documents.get(id);
    return found === undefined ? [] : [{ id, ...found }];
  });
  const unknown = query.sources.filter((id) => !documents.has(id));
  return [
    ...(generator === null ? ['query states no generator; add "generator", the person or model that wrote it'] : []),
    ...unknown.map((id) => `source is not among the documents: ${id}; correct its id`),
    ...(!isStratum(stratum)
      ? [`kind is not one of ${QUERY_STRATA.join(', ')}: ${stratum ?? 'nothing'}; correct the kind`]
      : unknown.length > 0
        ? []
        : DEMANDS[stratum](query, sources)),
  ];
}

/**
 * The faults of the queries of a test collection: no generator, a kind that is no stratum, unknown sources, and what contradicts the stratum. A paraphrase
 * shares no content word with a source (stems compared, stop words left out), an exact query shares one, a multi-hop query has at least two sources.
 */
export function findQueryFaults(
  queries: readonly AuthoredQuery[],
  documents: ReadonlyMap<string, DocumentText>,
): QueryFault[] {
  return queries.flatMap((query) => checkQuery(query, documents).map((message) => ({ queryId: query.id, message })));
}
