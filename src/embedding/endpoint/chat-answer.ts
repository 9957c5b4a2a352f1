import { z } from 'zod';
import { check } from '../../core/validation.ts';
import type { EndpointLedger } from './endpoint-ledger.ts';
import { PassingFault } from './endpoint-request.ts';

const answer = z.looseObject({
  choices: z.array(z.looseObject({ message: z.looseObject({ content: z.string() }) })).min(1),
  usage: z.looseObject({ total_tokens: z.int().min(0).nullish() }).nullish(),
});

/** Characters of an answer that a message quotes. */
const QUOTED = 200;

/** The first JSON object of a text: models add fences and words around it. */
function findJsonObject(text: string): unknown {
  try {
    return JSON.parse(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1));
  } catch {
    return undefined;
  }
}

/**
 * The JSON object of an answer of `/chat/completions`, with the beginning of its text for messages.
 *
 * @param texts the number of texts that were sent, for the ledger.
 * @throws PassingFault for an answer without a message: a model that answers in another form may not do so again.
 */
export function readChatObject(
  body: unknown,
  texts: number,
  ledger: EndpointLedger,
): { readonly found: unknown; readonly quoted: string } {
  const checked = check(answer, body);
  if ('faults' in checked) throw new PassingFault('the answer has no message');
  const { choices, usage } = checked.value;
  ledger.addRequest(texts, usage?.total_tokens ?? null);
  const { content } = (choices[0] as (typeof choices)[number]).message;
  return { found: findJsonObject(content), quoted: content.slice(0, QUOTED).replace(/\s+/g, ' ') };
}
