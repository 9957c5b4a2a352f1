import { KeptGraphs } from '../../index/graph/kept-graphs.ts';
import type { World } from './signal.ts';

/** The concept graphs that the indexes and signals of a workspace share. */
export function shareConceptGraphs({ shared }: World): Promise<KeptGraphs> {
  return shared.keepOnce('concept graphs', () => new KeptGraphs());
}
