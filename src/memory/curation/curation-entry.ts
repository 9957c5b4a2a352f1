import type { CurationOperation } from '../../model/text/curation-rules.ts';
import type { Decision } from '../changes/change-log.ts';

/** A decision, with what is needed to explain it and to undo it. */
export interface CurationEntry extends Decision {
  readonly kind: 'curate';
  /** The id of the record that came in. */
  readonly id: string;
  readonly operation: CurationOperation;
  /** The name of the rule, or what an endpoint gave as its reason. */
  readonly reason: string;
  /** The id of the record that it concerns; null for an addition. */
  readonly target: string | null;
  /** The records that the new one was compared with, nearest first, with the cosines of their vectors. */
  readonly neighbours: readonly { readonly id: string; readonly cosine: number }[];
}
