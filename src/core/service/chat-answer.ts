import { z } from 'zod';
import { phrase, type ShowableText } from '../display/showable-text.ts';
import { check } from '../validation/validation.ts';
import type { EndpointLedger } from './endpoint-ledger.ts';
import { describeAnswer, PassingFault } from './endpoint-request.ts';

const answer = z.looseObject({
  choices: z.array(z.looseObject({ message: z.looseObject({ content: z.string() }) })).min(1),
  usage: z.looseObject({ total_tokens: z.int().min(0).nullish() }).nullish(),
});

/** The first JSON object of a text: models add fences and words around it. */
function findJsonObject(text: string): unknown {
  try {
    return JSON.parse(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1));
  } catch {
    return undefined;
  }
}

/**
 * The JSON object of an answer of `/chat/completions`, with how messages name its text.
 *
 * @param texts the number of texts that were sent, for the ledger.
 * @throws PassingFault for an answer without a message: a model that answers in another form may not do so again.
 */
export function readChatObject(
  body: unknown,
  texts: number,
  ledger: EndpointLedger,
): { readonly found: unknown; readonly described: ShowableText } {
  const checked = check(answer, body);
  if ('faults' in checked) throw new PassingFault(phrase`the answer has no message`);
  const { choices, usage } = checked.value;
  ledger.addRequest(texts, usage?.total_tokens ?? null);
  const { content } = (choices[0] as (typeof choices)[number]).message;
  return { found: findJsonObject(content), described: describeAnswer(content) };
}
