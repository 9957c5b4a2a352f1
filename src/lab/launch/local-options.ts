import { z } from 'zod';

const options = z.strictObject({
  name: z.literal('local'),
  /** Arms at once. One runs in this process, several in a process and with a backend each. */
  workers: z.int().min(1).default(1),
});
export type LocalOptions = z.output<typeof options>;

export const local = {
  options,
  description: 'this machine: one arm at a time in this process, or several in processes',
};
