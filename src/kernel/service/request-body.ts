import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { check } from '../../core/validation/validation.ts';
import { letEventsIn } from '../../core/values/event-loop.ts';
import { createSerialRunner } from '../../core/values/once.ts';
import { describeBodyFaults, type Refusal } from './refusal.ts';

/** The largest body by default: while one is read and checked, others wait. */
export const LARGEST_BODY = 2 ** 19;

/** Bytes of a body that takes no time worth waiting for. */
const SMALL_BODY = 2 ** 15;

/** No request has more; what reads JSON takes longer for each than for the ids of a list. */
const [MOST_KEYS, DEEPEST] = [100, 8];

/** A request that no kernel sees. */
export class RefusedRequest extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.body.message);
    this.refusal = refusal;
  }
}

/** @throws RefusedRequest. */
export function readBody<S extends z.ZodType>(schema: S, body: unknown): z.output<S> {
  const checked = check(schema, body);
  if ('faults' in checked) throw new RefusedRequest(describeBodyFaults(checked.faults));
  return checked.value;
}

const [QUOTE, BACKSLASH, COLON] = [0x22, 0x5c, 0x3a];
/** The only bit in which `[` and `{` differ, and `]` and `}`. */
const [OPEN, CLOSE, BRACE_BIT] = [0x7b, 0x7d, 0x20];

/** Refuses a text with more keys or levels than a request has before it is read as JSON. @throws RefusedRequest. */
function assertFlat(body: Buffer): void {
  let [keys, depth, isText] = [0, 0, false];
  for (let i = 0; i < body.length; i++) {
    const byte = body[i] as number;
    if (isText) {
      if (byte === BACKSLASH) i++;
      else isText = byte !== QUOTE;
    } else if (byte === QUOTE) isText = true;
    else if (byte === COLON) keys++;
    else if ((byte | BRACE_BIT) === OPEN) depth++;
    else if ((byte | BRACE_BIT) === CLOSE) depth--;
    if (keys <= MOST_KEYS && depth <= DEEPEST) continue;
    const expected = `at most ${MOST_KEYS} keys and ${DEEPEST} levels`;
    throw new RefusedRequest(describeBodyFaults([{ path: '(top level)', expected, got: 'more' }]));
  }
}

/** Reads bodies as JSON. Of large ones, one at a time, and what others ask in between. */
export function addBodyParser(app: FastifyInstance): void {
  const parseJson = app.getDefaultJsonParser('error', 'error');
  const inTurn = createSerialRunner();
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (request: FastifyRequest, body: Buffer) => {
    if (body.length > SMALL_BODY) await inTurn(letEventsIn);

    assertFlat(body);
    return new Promise<unknown>((resolve, reject) => {
      parseJson(request, body.toString(), (error, value) => (error === null ? resolve(value) : reject(error)));
    });
  });
}
