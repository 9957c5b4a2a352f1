import http from 'node:http';
import https from 'node:https';
import { AdmissibilityError } from '../signatures/admissibility-error.ts';

/** An answer, read to its end. */
export interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/** An attempt that may be repeated: the kernel has not begun to answer. */
export class PassingFault extends Error {}

/** Where a kernel is, and what bounds its answers. */
export interface KernelAddress {
  /** Without a slash at its end. */
  readonly baseUrl: string;
  readonly maxAnswerBytes: number;
  readonly maxConnections: number;
}

export function createAnswerError(what: string, baseUrl: string): AdmissibilityError {
  return new AdmissibilityError(
    'kernel-answer',
    `kernel at ${baseUrl} gave no valid answer: ${what}; check that baseUrl is that of ragpp kernel serve`,
    { baseUrl },
  );
}

/** Codes of node:net and node:dns for a kernel that is not there. */
const UNREACHABLE = /^(?:ECONNREFUSED|ECONNRESET|ECONNABORTED|EPIPE|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN)$/;

/** One place for every way in which a request can fail before its answer is complete. */
function describeFailure(error: NodeJS.ErrnoException, baseUrl: string, isReused: boolean, hasBegun: boolean): Error {
  const { code = '', message } = error;
  if (hasBegun) return createAnswerError(`it ends in the middle (${message})`, baseUrl);
  // A kept connection that the kernel closed before this question came to it is a connection that it refuses.
  if (code === 'ECONNREFUSED' || (code === 'ECONNRESET' && isReused)) return new PassingFault(message || code);
  if (!UNREACHABLE.test(code)) return createAnswerError(message, baseUrl);
  return createUnreachableError(message || code, baseUrl);
}

export function createUnreachableError(what: string, baseUrl: string): AdmissibilityError {
  return new AdmissibilityError(
    'kernel-unreachable',
    `kernel at ${baseUrl} is not there: ${what}; start it: ragpp kernel serve`,
    { baseUrl },
  );
}

/** Connections to a kernel, kept from question to question. */
export class KernelConnection {
  readonly #options: KernelAddress;
  readonly #agent: http.Agent;
  readonly #send: typeof http.request;

  constructor(options: KernelAddress) {
    this.#options = options;
    const { request, Agent } = options.baseUrl.startsWith('https:') ? https : http;
    this.#agent = new Agent({ keepAlive: true, maxSockets: options.maxConnections });
    this.#send = request;
  }

  close(): void {
    this.#agent.destroy();
  }

  /** One attempt. @throws AdmissibilityError, PassingFault, or the abortion; there is no half answer. */
  post(path: string, text: string, signal: AbortSignal): Promise<Answer> {
    const { baseUrl, maxAnswerBytes } = this.#options;
    return new Promise((resolve, reject) => {
      const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
      const options = { method: 'POST', agent: this.#agent, headers, signal };
      const request = this.#send(`${baseUrl}${path}`, options);
      let hasBegun = false;
      const fail = (error: Error) => reject(describeFailure(error, baseUrl, request.reusedSocket, hasBegun));
      request.on('error', fail);
      request.on('response', (response) => {
        hasBegun = true;
        const parts: Buffer[] = [];
        let bytes = 0;
        response.on('data', (part: Buffer) => {
          bytes += part.length;
          if (bytes > maxAnswerBytes) {
            reject(createAnswerError(`it is larger than ${maxAnswerBytes} bytes`, baseUrl));
            request.destroy();
          } else parts.push(part);
        });
        response.on('error', fail);
        response.on('end', () => {
          try {
            if (!response.complete) throw new Error('incomplete');
            resolve({ status: response.statusCode as number, body: JSON.parse(Buffer.concat(parts).toString('utf8')) });
          } catch {
            reject(createAnswerError(`status ${response.statusCode}, and no whole JSON`, baseUrl));
          }
        });
      });
      request.end(text);
    });
  }
}
