import { gunzipSync, gzipSync } from 'node:zlib';
import { ValidationError } from '../../core/errors/errors.ts';
import type { BlobStore } from '../../core/files/blob-store.ts';
import { formatMegabytes, readBytes } from '../../core/files/files.ts';
import { computeHash } from '../../core/hash/hash.ts';
import { findEncoderFiles } from '../../index/encoders/registry.ts';
import type { Dataset, Query } from '../../model/dataset.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import type { Turn } from '../../model/turns/turn.ts';
import { isPlain } from '../composition/config-file.ts';
import type { ExperimentConfig } from '../config/config.ts';
import type { ArmRunner } from './arm-runner.ts';

/** The file that names the blob of the data. */
export const DATA_NAME = 'dataset.txt';

const LINE_FEED = 0x0a;

type Links<V> = readonly (readonly [string, readonly (readonly [string, V])[]])[];

/** What a dataset holds besides turns and queries. */
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

/** The dataset in a file that was fetched from a blob. */
export const readOfferedData = (path: string): Dataset => decodeDataset(readBytes(path));

/** What an arm reads from a file of this machine that is not in the resolved config; null if there is none. */
function findArmFile({ search }: { readonly search?: unknown }): string | null {
  for (const source of Object.values(isPlain(search) ? search : {})) {
    if (!isPlain(source)) continue;
    const { index, path, concepts, database } = source;
    if (index === 'run') return `run file ${path}`;
    if (index === 'graph' && isPlain(concepts) && typeof concepts.file === 'string') return `concepts ${concepts.file}`;
    if (index === 'domain' && typeof database === 'string') return `database ${database}`;
  }
  return null;
}

/** @throws ValidationError for a config that needs what only this machine has, naming it. */
function assertOfferable({ plugins, embedding, arms }: ExperimentConfig, names: readonly string[]): void {
  const chosen = arms.filter(({ name }) => names.includes(name));
  const encoders = [embedding, ...chosen.flatMap((arm) => arm.embedding ?? [])];
  const needed =
    plugins?.map(({ module }) => `plugin ${module}`)[0] ??
    encoders.flatMap((options) =>
      findEncoderFiles(options) === null ? [] : [`files of encoder ${options.encoder}`],
    )[0] ??
    chosen.flatMap((arm) => (arm.slice ? [`the kernel of the slice of arm ${arm.name}`] : []))[0] ??
    chosen.flatMap((arm) => findArmFile(arm as { readonly search?: unknown }) ?? [])[0];
  if (needed === undefined) return;
  throw new ValidationError(
    `workers of a queue have no folder of this machine, and the config needs ${needed}; use --launcher local, or slurm with a shared folder`,
  );
}

/**
 * Offers what other machines need to run arms.
 *
 * @returns the files that the folder of the run needs there besides its own.
 * @throws ValidationError for a config that needs files of this machine, and for data that the store has no room for.
 */
export async function offerData(
  runner: ArmRunner,
  arms: readonly string[],
  blobs: BlobStore,
): Promise<Readonly<Record<string, string>>> {
  assertOfferable(runner.source.config, arms);
  const bytes = encodeDataset(runner.dataset);
  const name = `datasets/${computeHash(bytes)}`;
  if (!(await blobs.put(name, bytes)))
    throw new ValidationError(
      `data of ${formatMegabytes(bytes.byteLength)} does not fit into the queue; set launcher.blobMebibytes higher, or wait for a day until blobs that nobody reads are deleted`,
    );
  return { [DATA_NAME]: name };
}
