import { type FeatureTable, selectQueries } from './feature-table.ts';

/** Rows of signals for folds. A signal of a fitted encoder has other values in every fold, since no fold fits on the rows that it holds out. */
export interface FeatureSource {
  /** [Q] the conversation of each row, that folds are made by. */
  readonly clusters: readonly string[];
  /**
   * @param rows places of the queries
   * @param heldOut clusters that must not be used to fit anything the signals depend on
   */
  gatherRowsFor(rows: Int32Array, heldOut: readonly string[]): Promise<FeatureTable>;
}

/** A table whose signals are fitted on nothing: they are the same in all folds. */
export function createFixedSource(table: FeatureTable): FeatureSource {
  return { clusters: table.clusters, gatherRowsFor: async (rows) => selectQueries(table, rows) };
}

/** The rows of a source after a change of one row at a time. */
export function createChangedSource(
  source: FeatureSource,
  change: (rows: FeatureTable) => FeatureTable,
): FeatureSource {
  return {
    clusters: source.clusters,
    gatherRowsFor: async (rows, heldOut) => change(await source.gatherRowsFor(rows, heldOut)),
  };
}
