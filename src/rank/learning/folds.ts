import { ValidationError } from '../../core/errors/errors.ts';
import { createRandom } from '../../core/numbers/random.ts';
import { suggestKnown } from '../../core/validation/validation.ts';
import type { FeatureTable } from './feature-table.ts';

/** Queries held out together, and all others. */
export interface Fold {
  /** Rows of the table, ascending, that are held out. */
  readonly heldOut: Int32Array;
  /** All other rows of the table, ascending. */
  readonly training: Int32Array;
  /** The clusters that are held out, in order of first appearance. */
  readonly clusters: readonly string[];
}

type Clustered = Pick<FeatureTable, 'clusters'>;

/** All rows for training and none held out. */
export function buildWholeFold({ clusters }: Clustered): Fold {
  return { training: Int32Array.from(clusters.keys()), heldOut: new Int32Array(), clusters: [] };
}

function buildFolds({ clusters }: Clustered, groups: readonly (readonly string[])[]): Fold[] {
  const rows = Int32Array.from(clusters.keys());
  return groups.map((group) => {
    const own = new Set(group);
    const isHeldOut = (row: number) => own.has(clusters[row] as string);
    return { clusters: group, heldOut: rows.filter(isHeldOut), training: rows.filter((row) => !isHeldOut(row)) };
  });
}

function listDistinctClusters({ clusters }: Clustered): string[] {
  const names = [...new Set(clusters)];
  if (names.length < 2) throw new ValidationError(`folds of ${names.length} clusters; pass at least 2`);
  return names;
}

/** A fold a cluster. @throws ValidationError for fewer than two clusters. */
export function splitByCluster(table: Clustered): Fold[] {
  return buildFolds(
    table,
    listDistinctClusters(table).map((name) => [name]),
  );
}

/**
 * k folds of whole clusters with about as many queries each: the largest cluster first, each into the fold that has the fewest queries by then. Clusters of one size
 * are in an order drawn by the seed.
 *
 * @throws ValidationError for fewer clusters than folds.
 */
export function drawBalancedFolds(table: Clustered, k: number, seed: number): Fold[] {
  const names = listDistinctClusters(table);
  if (!Number.isInteger(k) || k < 2 || k > names.length)
    throw new ValidationError(`${names.length} clusters cannot be divided into ${k} folds; use 2 to ${names.length}`);
  const sizes = new Map<string, number>();
  for (const name of table.clusters) sizes.set(name, (sizes.get(name) ?? 0) + 1);
  const order = new Map(names.map((name, i) => [name, i]));
  const groups = Array.from({ length: k }, () => ({ names: [] as string[], queries: 0 }));
  const descending = createRandom(seed, 'balanced folds')
    .shuffle([...names])
    .sort((a, b) => sizes.get(b)! - sizes.get(a)!);
  for (const name of descending) {
    const lightest = groups.reduce((least, group) => (group.queries < least.queries ? group : least));
    lightest.names.push(name);
    lightest.queries += sizes.get(name) as number;
  }
  return buildFolds(
    table,
    groups.map((group) => group.names.sort((a, b) => order.get(a)! - order.get(b)!)),
  );
}

/** The fold that lists each cluster. @throws ValidationError for a cluster in two folds. */
function indexListedFolds(groups: readonly (readonly string[])[]): Map<string, number> {
  const foldOf = new Map<string, number>();
  for (const [fold, group] of groups.entries())
    for (const name of group) {
      if (foldOf.has(name))
        throw new ValidationError(
          `conversation is listed twice, in folds ${foldOf.get(name)} and ${fold}: ${name}; list it once`,
          { name },
        );
      foldOf.set(name, fold);
    }
  return foldOf;
}

/**
 * The folds that are listed, for a split that others have published.
 *
 * @param groups the clusters that each fold holds out
 * @param known clusters that may be listed without a row in the table, such as those that a limited number of queries leaves out
 * @throws ValidationError for a cluster of the table that is in no fold or in two, a listed cluster that is neither in the table nor known, a fold without rows,
 * and fewer than two folds.
 */
export function splitAsListed(
  table: Clustered,
  groups: readonly (readonly string[])[],
  known: readonly string[] = [],
): Fold[] {
  const names = listDistinctClusters(table);
  if (groups.length < 2) throw new ValidationError(`${groups.length} folds; list at least 2`);
  const foldOf = indexListedFolds(groups);
  const all = new Set([...names, ...known]);
  const unknown = [...foldOf.keys()].find((name) => !all.has(name));
  if (unknown !== undefined) {
    const hint = suggestKnown(unknown, [...all]);
    throw new ValidationError(
      `fold ${foldOf.get(unknown)} lists a conversation without queries: ${unknown}; use ${hint}`,
      {
        unknown,
      },
    );
  }
  const missing = names.filter((name) => !foldOf.has(name));
  if (missing.length > 0)
    throw new ValidationError(
      `${missing.length} of ${names.length} conversations are in no fold, the first: ${missing[0]}; list every conversation with a query`,
      { missing: missing.slice(0, 20) },
    );
  const rows = new Set(names);
  const own = groups.map((group) => group.filter((name) => rows.has(name)));
  const empty = own.findIndex((group) => group.length === 0);
  if (empty >= 0)
    throw new ValidationError(
      `fold ${empty} has no conversation with a query; merge it with another fold or raise limitQueries`,
      { fold: empty },
    );
  return buildFolds(table, own);
}

/** Puts the rows that a fold holds out in their places. @param own row-major [rows, width] @param all row-major [Q, width] */
export function putRows(own: Float32Array, rows: ArrayLike<number>, width: number, all: Float32Array): void {
  for (let i = 0; i < rows.length; i++) all.set(own.subarray(i * width, (i + 1) * width), (rows[i] as number) * width);
}
