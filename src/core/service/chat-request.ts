import { z } from 'zod';
import { phrase, type ShowableText } from '../display/display.ts';
import { check } from '../validation/validation.ts';
import {
  createEndpoint,
  describeAnswer,
  type Endpoint,
  type EndpointLedger,
  type EndpointOptions,
  PassingFault,
  requestEndpoint,
} from './endpoint-request.ts';
import { formatSendable, type Sendable, stateOwnText } from './sendable-text.ts';

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

/** The JSON object that a model answered. */
export interface ChatAnswer {
  /** Undefined for an answer without one. */
  readonly found: unknown;
  /** The text of the answer as messages name it. */
  readonly described: ShowableText;
}

/** What a model is asked. */
export interface ChatQuestion {
  readonly instructions: string;
  /** Sent as JSON, so that a text cannot end its own quotation. */
  readonly content: Sendable;
  /** The number of texts in the content, for the ledger. */
  readonly texts: number;
}

/** A model behind `/chat/completions`. @throws as {@link createEndpoint}. */
export function createChatEndpoint(user: string, options: EndpointOptions, signal?: AbortSignal): Endpoint {
  return createEndpoint(user, '/chat/completions', options, signal);
}

/**
 * Asks a model for a JSON object by POST to `/chat/completions`, see {@link requestEndpoint}. An answer without a message is asked for again: a model that
 * answers in another form may not do so the next time.
 *
 * @param read checks what was found; throws a PassingFault for an answer of another form.
 * @throws as {@link requestEndpoint}.
 */
export function requestChat<T>(
  { instructions, content, texts }: ChatQuestion,
  endpoint: Endpoint,
  read: (answer: ChatAnswer) => T,
): Promise<T> {
  const messages = [
    { role: stateOwnText('system'), content: stateOwnText(instructions) },
    { role: stateOwnText('user'), content: formatSendable(content) },
  ];
  const body = { model: stateOwnText(endpoint.options.model), temperature: 0, messages };
  return requestEndpoint(body, endpoint, (received) => read(readChatAnswer(received, texts, endpoint.ledger)));
}

function readChatAnswer(body: unknown, texts: number, ledger: EndpointLedger): ChatAnswer {
  const checked = check(answer, body);
  if ('faults' in checked) throw new PassingFault(phrase`the answer has no message`);
  const { choices, usage } = checked.value;
  ledger.addRequest(texts, usage?.total_tokens ?? null);
  const { content } = (choices[0] as (typeof choices)[number]).message;
  return { found: findJsonObject(content), described: describeAnswer(content) };
}
