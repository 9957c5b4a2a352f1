import { z } from 'zod';
import { createTokenCounter } from '../../../model/text/token-counts.ts';
import { TOKEN_COUNTERS } from '../../../model/text/token-options.ts';
import { defineKeepStep } from './keep.ts';

/** A budget of tokens for the texts of a ranking. */
export const packOptions = z.strictObject({
  /** Of all texts that stay together. */
  tokens: z.int().min(1),
  /** `prefix` ends at the first text that does not fit; `greedy` leaves such a text out and goes on. */
  fill: z.enum(['prefix', 'greedy']).default('prefix'),
  counter: z.enum(TOKEN_COUNTERS).default('words'),
});
type PackOptions = z.output<typeof packOptions>;

/** The best candidates whose texts fit a budget of tokens. */
export const pack = defineKeepStep<PackOptions>({
  name: 'pack',
  summary: 'keeps the best turns whose texts fit a budget of `tokens`',
  keep: async ({ tokens, fill, counter }) => {
    const countTokens = await createTokenCounter(counter);
    return (ranked) => {
      let left = tokens;
      let isFull = false;
      return ranked.map(({ turn }) => {
        const size = isFull ? 0 : countTokens(turn.text);
        isFull ||= fill === 'prefix' && size > left;
        if (isFull || size > left) return false;
        left -= size;
        return true;
      });
    };
  },
});
