import { gunzipSync, gzipSync } from 'node:zlib';
import type { Dataset, Query } from '../../model/dataset.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import type { Turn } from '../../model/turns/turn.ts';

const LINE_FEED = 0x0a;

type Links<V> = readonly (readonly [string, readonly (readonly [string, V])[]])[];

/** The content of a dataset besides turns and queries. */
interface Rest extends Omit<Dataset, 'corpus' | 'queries' | 'qrels' | 'superseded' | 'devConversations'> {
  readonly qrels: Links<number>;
  readonly superseded?: Links<string>;
  readonly devConversations: readonly string[];
}

const listLinks = <V>(links: ReadonlyMap<string, ReadonlyMap<string, V>>): Links<V> =>
  Array.from(links, ([id, linked]) => [id, [...linked]] as const);
const mapLinks = <V>(links: Links<V>) => new Map(links.map(([id, linked]) => [id, new Map(linked)]));

/** A dataset as lines of JSON, packed: what else it holds, then `[part, row]` for each turn and query. */
export function encodeDataset({ corpus, queries, ...more }: Dataset): Uint8Array {
  const { name, declaration, qrels, superseded, relevantGrade, gradeNames, devConversations, facts, hash } = more;
  const rest: Rest = {
    ...{ name, declaration, relevantGrade, gradeNames, facts, hash },
    ...{ qrels: listLinks(qrels), devConversations: [...devConversations] },
    ...(superseded && { superseded: listLinks(superseded) }),
  };
  const rows = [rest, ...corpus.turns.map((turn) => ['turn', turn]), ...queries.map((query) => ['query', query])];
  return gzipSync(Buffer.concat(rows.map((row) => Buffer.from(`${JSON.stringify(row)}\n`))));
}

/** The dataset that {@link encodeDataset} was given. */
export function decodeDataset(bytes: Uint8Array): Dataset {
  const lines = gunzipSync(bytes);
  const turns: Turn[] = [];
  const queries: Query[] = [];
  let start = lines.indexOf(LINE_FEED) + 1;
  const { qrels, superseded, devConversations, ...facts } = JSON.parse(lines.toString('utf8', 0, start)) as Rest;
  while (start < lines.length) {
    const end = lines.indexOf(LINE_FEED, start);
    const [part, row] = JSON.parse(lines.toString('utf8', start, end)) as ['turn', Turn] | ['query', Query];
    if (part === 'turn') turns.push(row);
    else queries.push(row);
    start = end + 1;
  }
  return {
    ...facts,
    ...{ corpus: new Corpus(turns), queries, qrels: mapLinks(qrels), devConversations: new Set(devConversations) },
    ...(superseded && { superseded: mapLinks(superseded) }),
  };
}
