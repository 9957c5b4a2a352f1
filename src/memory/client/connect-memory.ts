import { z } from 'zod';
import { RagPlusPlusError, SensitiveTextError, UnavailableError } from '../../core/errors/errors.ts';
import { BodyTooLargeError, ConnectionFault, HttpConnection } from '../../core/service/http-connection.ts';
import { parse, parseOrNull } from '../../core/validation/validation.ts';
import { type Attributes, isSensitive } from '../../model/turns/memory-fields.ts';
import type { OutcomeStatistics } from '../../model/turns/turn.ts';
import type { AddedRecord, ArmAnswer } from '../engine/memory.ts';
import type { ArmQuestion } from '../engine/query-response.ts';

const options = z.strictObject({
  /** The token of the service; null: it takes requests of anybody. */
  token: z.string().min(1).nullable().default(null),
  /** The longest time of one request. */
  timeoutSeconds: z.number().gt(0).max(3600).default(30),
  maxAnswerBytes: z
    .int()
    .min(1)
    .default(2 ** 26),
});
/** The options of a connection; everything has a default. */
export type ConnectionInput = z.input<typeof options>;

const address = z.url({ protocol: /^https?$/, error: 'an address such as http://127.0.0.1:8080' });
const refusal = z.object({ code: z.string(), message: z.string() });

/** The answer to a request that adds records. */
export interface WriteReceipt {
  /** In the order of the records. */
  readonly ids: readonly string[];
  /** The ids that were there with the same content. */
  readonly known: readonly string[];
  /** A change of the memory at or after that of the request, and the running hash of the changes up to it. */
  readonly sequence: number;
  readonly hash: string;
}

/** A context that a service assembled. */
export interface ServedContext {
  readonly context: string;
  readonly ids: readonly string[];
  readonly tokens: number;
  readonly budget: number;
}

/**
 * A memory behind HTTP. An error of the service is a RagPlusPlusError with the code and the message that the memory has
 * in one process; a service that is not there, or does not answer in time, is an UnavailableError. What is marked
 * sensitive is sent to this machine alone: to another one it is a SensitiveTextError.
 */
export interface MemoryClient {
  add(record: AddedRecord): Promise<WriteReceipt>;
  /** Adds records, all or none. */
  addBatch(records: readonly AddedRecord[]): Promise<WriteReceipt>;
  /** Adds records, and replaces those whose ids are known. */
  upsert(records: readonly AddedRecord[]): Promise<WriteReceipt>;
  ask(question: ArmQuestion): Promise<ArmAnswer>;
  assemble(prompt: string, how?: { readonly budget?: number; readonly cite?: boolean }): Promise<ServedContext>;
  remove(id: string): Promise<boolean>;
  updateStats(id: string, outcome: number): Promise<OutcomeStatistics>;
  /** Ends its connections; a request that is open fails. */
  close(): void;
}

/** Rows as JSON has them. */
const toRow = ({ embedding, ...record }: AddedRecord): object =>
  embedding === undefined ? record : { ...record, embedding: Array.from(embedding) };

/** True if a name in an address is that of this machine. */
const isHere = (url: string) => /^(?:localhost|127\..*|\[::1\])$/.test(new URL(url).hostname);

/** Connects to a memory behind `ragpp serve`. Nothing is sent yet. @throws ConfigurationError. */
export function connectMemory(url: string, input: ConnectionInput = {}): MemoryClient {
  const base = parse(address, url, 'the address of a memory').replace(/\/+$/, '');
  const { token, timeoutSeconds, maxAnswerBytes } = parse(options, input, 'options of a connection');
  const connection = new HttpConnection();

  async function send<T>(method: 'GET' | 'POST' | 'DELETE', path: string, body: object | null): Promise<T> {
    const signal = AbortSignal.timeout(Math.ceil(1000 * timeoutSeconds));
    const text = body === null ? '' : JSON.stringify(body);
    const headers = token === null ? {} : { authorization: `Bearer ${token}` };
    const answer = await connection
      .send(`${base}${path}`, { method, text, headers, mostBytes: maxAnswerBytes, signal })
      .catch((error: unknown) => {
        if (signal.aborted) throw new UnavailableError(`memory at ${base}`, `no answer within ${timeoutSeconds} s`);
        if (error instanceof ConnectionFault || error instanceof BodyTooLargeError)
          throw new UnavailableError(`memory at ${base}`, `${error.message}; start it: ragpp serve`, { cause: error });
        throw error;
      });
    const read = parseAnswer(answer.text);
    if (answer.status === 200) return read as T;
    const refused = parseOrNull(refusal, read);
    if (refused === null)
      throw new UnavailableError(`memory at ${base}`, `status ${answer.status} without a reason; check the address`);
    throw new RagPlusPlusError(refused.code, refused.message, { status: answer.status });
  }

  /** @throws SensitiveTextError. */
  const assertSendable = (marked: readonly (Attributes | undefined)[]) => {
    const count = isHere(base) ? 0 : marked.filter((attributes) => attributes && isSensitive({ attributes })).length;
    if (count > 0) throw new SensitiveTextError(`memory at ${base}`, count, marked.length);
  };
  const write = async (records: readonly AddedRecord[], replace: boolean) => {
    assertSendable(records.map(({ metadata }) => metadata));
    return send<WriteReceipt>('POST', '/v1/records/bulk', { rows: records.map(toRow), replace });
  };
  const locate = (id: string) => `/v1/records/${encodeURIComponent(id)}`;
  return {
    add: (record) => write([record], false),
    addBatch: (records) => write(records, false),
    upsert: (records) => write(records, true),
    async ask(question) {
      assertSendable([question.attributes as Attributes | undefined]);
      return send('POST', '/v1/ask', question);
    },
    assemble: (prompt, how = {}) => send('POST', '/v1/assemble', { prompt, ...how }),
    remove: async (id) => (await send<{ readonly removed: boolean }>('DELETE', locate(id), null)).removed,
    updateStats: (id, value) => send('POST', `${locate(id)}/outcome`, { value }),
    close: () => connection.close(),
  };
}

function parseAnswer(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
