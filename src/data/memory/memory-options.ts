import { z } from 'zod';

export const memory = {
  options: z.strictObject({ name: z.literal('memory') }),
  description: 'turns, queries and judgements that a program holds: `fromTurns`, not a config',
  licence: 'yours',
  source: 'you pass them to fromTurns, as docs/library.md says',
};
