import type { VectorMatch } from '../../../model/vector-index.ts';
import type { FlatVectorsOptions } from '../flat-options.ts';
import { scanExactly } from './exact-scan.ts';
import { TableIndex } from './table-index.ts';
import type { OpenVectorIndex } from './vector-index-definition.ts';

/** Exact search over vectors that come and go: every visible vector is compared, in float64 on the host. O(N D) a query. */
export class FlatVectorIndex extends TableIndex {
  readonly name = 'flat';

  protected add(): void {}
  protected drop(): void {}
  protected async rebuild(): Promise<void> {}

  protected rank(query: Float32Array, k: number, slots: Int32Array | null): VectorMatch[] {
    return scanExactly(this.table, slots, query, k);
  }

  protected async saveParts(): Promise<readonly string[]> {
    return [];
  }

  protected free(): void {}
}

export const openFlatVectors: OpenVectorIndex<FlatVectorsOptions> = async (options, { dimension, saved }) => {
  const index = new FlatVectorIndex(options, dimension);
  if (saved !== undefined) await index.load(saved.rows);
  return index;
};
