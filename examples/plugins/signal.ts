// A signal: turns of about the length of the query score high.
import { definePlugin, z } from 'rag-plusplus';

export default definePlugin({
  name: 'length-signal',
  version: 1,
  signals: [
    {
      name: 'form.similar-length',
      summary: 'exp(-|difference of the lengths| / scale), lengths in characters',
      options: { scale: z.number().positive().default(40) },
      reads: ['texts'],
      score: ({ query, turn }, { scale }: { scale: number }) =>
        Math.exp(-Math.abs(query.text.length - turn.text.length) / scale),
    },
  ],
});
