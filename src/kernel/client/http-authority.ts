import { z } from 'zod';
import { stateShown } from '../../core/display/display.ts';
import { PassingFault, repeatAttempts } from '../../core/service/endpoint-request.ts';
import {
  BodyTooLargeError,
  ConnectionFault,
  type HttpAnswer,
  HttpConnection,
} from '../../core/service/http-connection.ts';
import { parse, parseOrNull } from '../../core/validation/validation.ts';
import {
  ADMISSIBILITY_REASONS,
  AdmissibilityError,
  type AdmissibilityReason,
} from '../signatures/admissibility-error.ts';
import { type SliceAuthority, type SliceExport, sliceExportSchema } from '../signatures/slice-export.ts';

/** The options of {@link createHttpAuthority}. */
export const httpAuthoritySchema = z.strictObject({
  /** Where the kernel listens, such as `http://127.0.0.1:8080`. */
  baseUrl: z
    .url({ protocol: /^https?$/, error: 'an address such as http://127.0.0.1:8080' })
    .refine((url) => !URL.canParse(url) || new URL(url).username + new URL(url).password === '', {
      error: 'an address without a name or password, which errors would show',
    }),
  /** Of a question with all of its attempts. */
  timeoutSeconds: z.number().gt(0).max(3600).default(1),
  /** Attempts at a kernel that refuses the connection or answers 503. */
  maxAttempts: z.int().min(1).max(10).default(3),
  /** Before the second attempt; doubles from attempt to attempt. */
  pauseSeconds: z.number().min(0).max(60).default(0.05),
  /** The largest answer. */
  maxAnswerBytes: z
    .int()
    .min(1)
    .default(2 ** 25),
  /** Connections that are open at once; further questions wait for one. */
  maxConnections: z.int().min(1).max(1000).default(64),
});
/** Where a kernel is, and how long it is asked; everything but `baseUrl` has a default. */
export type HttpAuthorityInput = z.input<typeof httpAuthoritySchema>;
type HttpAuthorityOptions = z.output<typeof httpAuthoritySchema>;

/** A kernel in another process. */
export interface HttpAuthority extends SliceAuthority {
  /** Closes the connections that are kept; a question that is open ends with `kernel-unreachable`. */
  close(): void;
}

function createAnswerError(what: string, baseUrl: string): AdmissibilityError {
  return new AdmissibilityError(
    'kernel-answer',
    `kernel at ${baseUrl} gave no valid answer: ${what}; check that baseUrl is that of ragpp kernel serve`,
    { baseUrl },
  );
}

function createUnreachableError(what: string, baseUrl: string): AdmissibilityError {
  return new AdmissibilityError(
    'kernel-unreachable',
    `kernel at ${baseUrl} is not there: ${what}; start it: ragpp kernel serve`,
    { baseUrl },
  );
}

/** What a request without a whole answer is to who asked. A kernel that refuses the connection has not begun to answer, and is asked again. */
function describeFault(error: unknown, { baseUrl, maxAnswerBytes }: HttpAuthorityOptions): unknown {
  if (error instanceof BodyTooLargeError)
    return createAnswerError(`it is larger than ${maxAnswerBytes} bytes`, baseUrl);
  if (!(error instanceof ConnectionFault)) return error;
  const { kind, message } = error;
  if (kind === 'refused') return new PassingFault(stateShown(message));
  if (kind === 'unreachable') return createUnreachableError(message, baseUrl);
  return createAnswerError(kind === 'unfinished' ? `it ends in the middle (${message})` : message, baseUrl);
}

/** The most characters of a kernel's words that an error repeats. */
const QUOTED = 500;

const refusalSchema = z.object({ reason: z.string(), message: z.string() });
const isOwnReason = (reason: string): reason is AdmissibilityReason =>
  (ADMISSIBILITY_REASONS as readonly string[]).includes(reason) && !reason.startsWith('kernel-');

/** What a kernel's refusal is to who asked: its own reason if that is known. */
function createRefusal(status: number, body: unknown, baseUrl: string): AdmissibilityError {
  const read = parseOrNull(refusalSchema, body);
  if (read === null) return createAnswerError(`status ${status} without a reason`, baseUrl);
  const { reason, message } = read;
  const words = message.length > QUOTED ? `${message.slice(0, QUOTED)}…` : message;
  if (isOwnReason(reason)) return new AdmissibilityError(reason, words, { status, baseUrl });
  return new AdmissibilityError('kernel-refused', `kernel at ${baseUrl} refused, status ${status}: ${words}`, {
    ...{ status, baseUrl, kernelReason: reason.slice(0, QUOTED) },
  });
}

function parseAnswer({ status, text }: HttpAnswer, baseUrl: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw createAnswerError(`status ${status}, and no whole JSON`, baseUrl);
  }
}

/** Asks a kernel over connections that are kept. */
class HttpClient implements HttpAuthority {
  readonly #options: HttpAuthorityOptions;
  readonly #baseUrl: string;
  readonly #connection: HttpConnection;

  constructor(options: HttpAuthorityOptions) {
    this.#baseUrl = options.baseUrl.replace(/\/+$/, '');
    this.#options = { ...options, baseUrl: this.#baseUrl };
    this.#connection = new HttpConnection(options.maxConnections);
  }

  async slice(request: unknown, signal?: AbortSignal): Promise<SliceExport> {
    const read = parseOrNull(sliceExportSchema, await this.#ask('/slice', request, signal));
    if (read !== null) return read;
    throw createAnswerError('it is no slice', this.#baseUrl);
  }

  async verify(slice: SliceExport, at: number | null, signal?: AbortSignal): Promise<void> {
    const answer = await this.#ask('/slice/verify', { slice, at }, signal);
    if (parseOrNull(z.strictObject({ valid: z.literal(true) }), answer) === null)
      throw createAnswerError('it does not say that the slice is valid', this.#baseUrl);
  }

  close(): void {
    this.#connection.close();
  }

  /** @returns the body of an answer of status 200. */
  async #ask(path: string, question: unknown, signal?: AbortSignal): Promise<unknown> {
    signal?.throwIfAborted();
    const deadline = AbortSignal.timeout(Math.ceil(1000 * this.#options.timeoutSeconds));
    const either = signal === undefined ? deadline : AbortSignal.any([deadline, signal]);
    const text = JSON.stringify(question);
    try {
      return await repeatAttempts(
        () => this.#attempt(path, text, either),
        this.#options,
        ({ message, cause }, attempts) =>
          cause instanceof Error
            ? cause
            : createUnreachableError(`${message}, after ${attempts} attempts`, this.#baseUrl),
        { signal: either },
      );
    } catch (error) {
      signal?.throwIfAborted();
      throw deadline.aborted ? this.#createTimeout() : error;
    }
  }

  async #attempt(path: string, text: string, signal: AbortSignal): Promise<unknown> {
    const mostBytes = this.#options.maxAnswerBytes;
    const answer = await this.#connection
      .send(`${this.#baseUrl}${path}`, { text, mostBytes, signal })
      .catch((error) => {
        throw describeFault(error, this.#options);
      });
    const body = parseAnswer(answer, this.#baseUrl);
    if (answer.status === 200) return body;
    const refusal = createRefusal(answer.status, body, this.#baseUrl);
    throw answer.status === 503 ? new PassingFault(stateShown(refusal.message), { cause: refusal }) : refusal;
  }

  #createTimeout(): AdmissibilityError {
    const { timeoutSeconds } = this.#options;
    return new AdmissibilityError(
      'kernel-timeout',
      `kernel at ${this.#baseUrl} did not answer within ${timeoutSeconds} s; see whether it runs, or raise timeoutSeconds`,
      { baseUrl: this.#baseUrl, timeoutSeconds },
    );
  }
}

/**
 * A kernel in another process, asked over HTTP. Ids of turns, conversations, authors and channels leave this process, and no text. A result comes from a whole
 * and valid answer alone. Every failure is an AdmissibilityError, within the timeout: `kernel-unreachable`, `kernel-timeout`, `kernel-answer`, the kernel's own
 * reason for what it refuses, or `kernel-refused` for a reason that is not known here. An aborted signal ends a question with the reason of the signal.
 *
 * @throws ConfigurationError for options that are not valid.
 */
export function createHttpAuthority(options: HttpAuthorityInput): HttpAuthority {
  return new HttpClient(parse(httpAuthoritySchema, options, 'the address of a kernel'));
}
