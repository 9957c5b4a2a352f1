import {
  joinLists,
  listSlicePositions,
  type SignedSlices,
  type SliceAnswer,
} from '../../rank/retrieval/packed-slices.ts';
import { openSlices, signedSlices } from '../../rank/retrieval/signed-slices.ts';
import type { RankOptions } from '../../rank/retrieval/written-steps.ts';
import { readArm } from '../../rank/retrieval/written-steps.ts';
import type { Workspace } from '../../rank/signals/workspace.ts';
import type { RecordedSlices } from './arm-record.ts';

/** [Q] the turns that an arm's queries may see, ascending; null: every earlier turn. @throws AdmissibilityError. */
export function listAdmitted(workspace: Workspace, arm: RankOptions): Promise<readonly Int32Array[]> | null {
  const { slice } = readArm(arm).outline.view;
  const { control } = arm;
  return slice === null ? null : openSlices(workspace.under(control), slice);
}

/** The slices of an arm in a workspace, signed and verified; null for an arm without any. */
async function readSlices(workspace: Workspace, arm: RankOptions): Promise<RecordedSlices | null> {
  const { slice } = readArm(arm).outline.view;
  if (slice === null) return null;
  await openSlices(workspace, slice);
  const signed = await workspace.get(signedSlices(slice));
  return { ...signed, queries: workspace.queries.map(({ id }) => id) };
}

/** The slices of some arms in their workspaces, joined in the order of the arms; null if none has any. */
export async function collectSlices(
  uses: readonly { readonly workspace: Workspace; readonly arm: RankOptions }[],
): Promise<RecordedSlices | null> {
  const found = await Promise.all(uses.map(({ workspace, arm }) => readSlices(workspace, arm)));
  const all = found.filter((slices) => slices !== null);
  if (all.length === 0) return null;
  const lists = all.flatMap(listSlicePositions);
  const answers = all.flatMap((slices) => slices.answers);
  return { ...joinLists(lists, answers), queries: all.flatMap(({ queries }) => queries) };
}

/** The slices of some of the recorded queries. @param ids of the first queries of the record, each once. */
export function selectSlices(recorded: RecordedSlices, ids: readonly string[]): SignedSlices {
  const rowOf = new Map<string, number>();
  for (const [row, id] of recorded.queries.entries()) if (!rowOf.has(id)) rowOf.set(id, row);
  const lists = listSlicePositions(recorded);
  const chosen = ids.map((id) => rowOf.get(id) as number);
  return joinLists(
    chosen.map((row) => lists[row] as Int32Array),
    chosen.map((row) => recorded.answers[row] as SliceAnswer),
  );
}
