import type { Answer, ReceivedRequest } from '../../../core/service/embedding-service.harness.ts';
import type { Turn } from '../../../model/turns/turn.ts';

/** What a request asks: triples of turns, or definitions of new relations. */
export interface AskedContent {
  readonly turns?: readonly { readonly number: number; readonly title: string; readonly text: string }[];
  readonly known?: readonly { readonly number: number; readonly relation: string; readonly definition: string }[];
  readonly new?: readonly { readonly number: number; readonly relation: string }[];
}

export const readAsked = ({ body }: ReceivedRequest): AskedContent => JSON.parse(body.messages?.[1]?.content ?? '{}');

/** An answer of a model. */
export function say(content: string): Answer {
  return { status: 200, body: { choices: [{ message: { content } }], usage: { total_tokens: 7 } } };
}

/** Relations of one meaning. */
const MEANINGS: Readonly<Record<string, string>> = { 'is employed by': 'employ', 'works for': 'employ' };
const defineRelation = (relation: string) => `The subject ${MEANINGS[relation] ?? relation} the object.`;

/** The triples that a text states: `Ann | works for | Initech; ...`. */
const readTriples = (text: string) =>
  text
    .split(';')
    .map((triple) => triple.split('|').map((part) => part.trim()))
    .filter(({ length }) => length === 3);

/** A model that reads triples from texts, and takes two relations for one where it defines both alike. */
export function answerAsAsked(request: ReceivedRequest): Answer {
  const { turns = [], known = [], new: added } = readAsked(request);
  if (added === undefined)
    return say(JSON.stringify({ turns: turns.map(({ number, text }) => ({ number, triples: readTriples(text) })) }));
  const defined = [...known, ...added.map((one) => ({ ...one, definition: defineRelation(one.relation) }))];
  const relations = added.map(({ number, relation }) => {
    const definition = defineRelation(relation);
    const same = defined.find((one) => one.number < number && one.definition === definition)?.number ?? null;
    return { number, definition, same };
  });
  return say(`Here it is:\n\`\`\`json\n${JSON.stringify({ relations })}\n\`\`\``);
}

/** A turn at a second. */
export function describeStatement(second: number, text: string, given: Partial<Turn> = {}): Turn {
  const nothing = { parentId: null, author: null, channel: null };
  return { id: `t${second}`, conversationId: 'c', timestamp: 1000 * second, text, ...nothing, ...given };
}
