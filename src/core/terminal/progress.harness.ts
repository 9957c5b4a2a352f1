import type { StartProgress } from './progress.ts';

/** A stage as it was shown: its name, its total, and the last count. */
type ShownStage = readonly [stage: string, total: number, done: number];

/** Progress that notes its stages, in the order in which they began. */
export function noteProgress(): { readonly stages: ShownStage[]; readonly progress: StartProgress } {
  const stages: ShownStage[] = [];
  const progress: StartProgress = (stage, total) => {
    const at = stages.push([stage, total, 0]) - 1;
    return {
      update(done) {
        stages[at] = [stage, total, done];
      },
      finish() {},
    };
  };
  return { stages, progress };
}
