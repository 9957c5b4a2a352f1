import type { RetrieverOptions } from '../../retrieval/retriever-options.ts';
import { openSlices, type SignedSlices, signedSlices } from '../../retrieval/signed-slices.ts';
import type { Workspace } from '../../signals/workspace.ts';
import type { RecordedSlices } from './arm-record.ts';

type Sliced = Pick<RetrieverOptions, 'slice' | 'control'>;

/** [Q] the turns that an arm's queries may see, ascending; null: every earlier turn. @throws AdmissibilityError. */
export function listAdmitted(workspace: Workspace, { slice = null, control }: Sliced): Promise<Int32Array[]> | null {
  return slice === null ? null : openSlices(workspace.under(control), slice);
}

/** The slices of an arm in a workspace, signed and verified; null for an arm without any. */
async function readSlices(
  workspace: Workspace,
  { slice = null }: Pick<Sliced, 'slice'>,
): Promise<RecordedSlices | null> {
  if (slice === null) return null;
  await openSlices(workspace, slice);
  const signed = await workspace.get(signedSlices(slice));
  return { ...signed, queries: workspace.queries.map(({ id }) => id) };
}

function joinSlices(a: RecordedSlices, b: RecordedSlices): RecordedSlices {
  const offset = a.positions.length;
  const starts = new Int32Array(a.starts.length + b.queries.length);
  starts.set(a.starts);
  starts.set(
    b.starts.subarray(1).map((start) => start + offset),
    a.starts.length,
  );
  const positions = new Int32Array(offset + b.positions.length);
  positions.set(a.positions);
  positions.set(b.positions, offset);
  return { starts, positions, answers: [...a.answers, ...b.answers], queries: [...a.queries, ...b.queries] };
}

/** The slices of some arms in their workspaces, one after the other; null if none has any. */
export async function collectSlices(
  uses: readonly { readonly workspace: Workspace; readonly arm: Pick<Sliced, 'slice'> }[],
): Promise<RecordedSlices | null> {
  const found = await Promise.all(uses.map(({ workspace, arm }) => readSlices(workspace, arm)));
  const all = found.filter((slices) => slices !== null);
  return all.length === 0 ? null : all.reduce(joinSlices);
}

/** The slices of the first Q queries alone. */
export function takeSlices({ starts, positions, answers }: SignedSlices, count: number): SignedSlices {
  return { starts: starts.subarray(0, count + 1), positions, answers: answers.slice(0, count) };
}
