import type { SliceOptions } from '../../kernel/slices/slice-options.ts';
import { defineStage, type World } from '../signals/signal.ts';
import { disturbSlices } from '../signals/worlds/disturbed-world.ts';
import { packSlices, restoreSlices, type SignedSlices } from './packed-slices.ts';

/** The signed slices of all queries. What a stage keeps is not trusted: {@link openSlices} checks it. */
export const signedSlices = defineStage<SliceOptions, SignedSlices>({
  name: 'slices',
  module: import.meta.url,
  of: 'queries',
  isShared: true,
  reads: [],
  // The corpus and the queries are part of every key. Where the kernel listens is not.
  key: ({ policy, ...slice }, setting) => [policy, setting.findSliceTrust({ policy, ...slice })],
  compute: async ({ world }, slice) => {
    const { askForSlices } = await import('./slice-answers.ts');
    return packSlices(await askForSlices(world, slice), world.corpus);
  },
});

/**
 * [Q] the positions that each query of a world may see, ascending, after the signature of every slice was checked at the moment of its query.
 *
 * @throws AdmissibilityError, naming the query.
 */
export async function openSlices(world: World, slice: SliceOptions): Promise<readonly Int32Array[]> {
  const { whole } = world;
  const signed = await whole.get(signedSlices(slice));
  const lists = await whole.keepOnce(['checked slices', slice], async () => {
    const { AnswerChecks } = await import('./slice-answers.ts');
    const checks = await AnswerChecks.of(slice, whole);
    const { queries } = whole;
    const answers = restoreSlices(signed, whole.corpus);
    return new Map(queries.map((query, i) => [query.id, checks.verify(answers[i] as (typeof answers)[number], query)]));
  });
  return disturbSlices(
    world.queries.map(({ id }) => lists.get(id) as Int32Array),
    world,
  );
}
