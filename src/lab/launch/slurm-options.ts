import { z } from 'zod';

const oneLine = z.string().regex(/^[^\r\n]+$/, 'one line');

const options = z.strictObject({
  name: z.literal('slurm'),
  /** Arms at once, the throttle of the array; null for as many as the cluster takes. */
  workers: z.int().min(1).nullable().default(null),
  partition: oneLine.optional(),
  account: oneLine.optional(),
  /** Of one arm, as sbatch takes it: `30`, `02:00:00`, `1-12`. */
  time: oneLine.optional(),
  /** Of one arm, for example `8G`. */
  memory: oneLine.optional(),
  cpusPerTask: z.int().min(1).optional(),
  /** Further options of sbatch, for example `--gres=gpu:1`; they come last. */
  sbatch: z.array(oneLine.regex(/^-/, 'an option of sbatch')).default([]),
  /** Shell lines before an arm is run, for example `module load nodejs`. */
  setup: z.array(oneLine).default([]),
  pollSeconds: z.number().min(0.1).default(10),
});
export type SlurmOptions = z.output<typeof options>;

export const slurm = { options, description: 'a job array of Slurm, an arm a task' };
