import type { Column } from '../../retrieval/relevance.ts';
import { attentionSignal, trajectorySignal } from '../../retrieval/signals.ts';
import type { Workspace } from '../../retrieval/workspace.ts';
import { COORDINATES, type CoordinateName } from '../../trajectory/coordinate-names.ts';
import type { CandidatePool } from '../candidate-pool.ts';
import { framesOf } from '../pair-frames.ts';
import type { ControlOptions } from '../worlds/control-options.ts';
import { onCoordinates } from '../worlds/null-controls.ts';
import { ATTENTIONS, TRAJECTORIES } from './structure-options.ts';

/** How far apart query and candidate are in one coordinate, [Q, C] each. */
async function differences(
  workspace: Workspace,
  pool: CandidatePool,
  control: ControlOptions | null,
): Promise<[string, Column][]> {
  const frames = await framesOf(workspace, pool, TRAJECTORIES['trajectory-7'], onCoordinates(control));
  const names: readonly CoordinateName[] = COORDINATES[7];
  return names.map((name, i) => {
    const column = new Float32Array(pool.positions.length);
    for (let pair = 0; pair < column.length; pair++) {
      const at = pair * names.length + i;
      column[pair] = Math.abs((frames.queries[at] as number) - (frames.candidates[at] as number));
    }
    return [`difference ${name}`, column];
  });
}

/**
 * The columns of the structure signals by name, [Q, C] each.
 *
 * @param control changes the coordinates and the order that they see.
 */
export async function structureColumns(
  workspace: Workspace,
  pool: CandidatePool,
  control: ControlOptions | null,
): Promise<Map<string, Column>> {
  const columns = new Map<string, Column>(await differences(workspace, pool, control));
  for (const [name, options] of Object.entries(TRAJECTORIES))
    columns.set(name, await trajectorySignal(workspace, pool, options, control));
  for (const [name, options] of Object.entries(ATTENTIONS))
    columns.set(name, await attentionSignal(workspace, pool, options, null, control));
  return columns;
}
