import { NotFiniteError, RagPlusPlusError } from '../../core/errors/errors.ts';
import type { ContextItem } from './context-item.ts';

/** What a source is asked for. */
export interface SourceRequest {
  readonly query: string;
  /** The most items. */
  readonly k: number;
  /** Only memories of this session; null: of all. */
  readonly session: string | null;
  /** The moment of the question in milliseconds since 1970: what is later may not be found. */
  readonly now: number;
  /** Ends when the deadline of the source is over. */
  readonly signal: AbortSignal;
}

/** What a source of several parts found, and the answer of each part. */
export interface FoundItems {
  readonly items: readonly ContextItem[];
  readonly parts: readonly SourceAnswer[];
}

/** A source of one part. */
export type ItemSource = (request: SourceRequest) => Promise<readonly ContextItem[]>;

/** Where items come from: an index of documents, a memory, a database. Best first. */
export interface ContextSource {
  (request: SourceRequest): Promise<readonly ContextItem[] | FoundItems>;
  /** The version of the items, for a source whose items change. A cache gives no context of another version. */
  readVersion?(): number;
}

/** What a source gave, or why it is left out. */
export interface SourceAnswer {
  readonly name: string;
  readonly items: readonly ContextItem[];
  /** Null: it answered in time. */
  readonly fault: string | null;
  /** Of a source of several parts: what each gave. A part with a fault is left out of `items`. */
  readonly parts?: readonly SourceAnswer[];
}

function describeFault(error: unknown): string {
  if (error instanceof RagPlusPlusError) return `${error.code}: ${error.message}`;
  return error instanceof Error ? error.message : String(error);
}

/** @throws NotFiniteError for a score or a time that has no order. */
function assertFinite(items: readonly ContextItem[]): void {
  for (const { id, score, timestamp } of items)
    for (const [name, value] of Object.entries({ score, timestamp }))
      if (!Number.isFinite(value)) throw new NotFiniteError(name, id, value);
}

/**
 * Asks a source within a time. One that fails or is late gives no items, and its fault says so.
 *
 * @param milliseconds the deadline, from now.
 * @throws the reason of `signal` if the caller ends the work.
 */
export async function askSource(
  name: string,
  source: ContextSource,
  request: Omit<SourceRequest, 'signal'>,
  milliseconds: number,
  signal?: AbortSignal,
): Promise<SourceAnswer> {
  signal?.throwIfAborted();
  const deadline = AbortSignal.timeout(milliseconds);
  const ended = signal === undefined ? deadline : AbortSignal.any([deadline, signal]);
  let stop = () => {};
  const late = new Promise<never>((_, reject) => {
    stop = () => reject(ended.reason);
    ended.addEventListener('abort', stop, { once: true });
  });
  try {
    const found = await Promise.race([source({ ...request, signal: ended }), late]);
    const parts = 'parts' in found ? { parts: found.parts } : {};
    const items = ('parts' in found ? found.items : found).slice(0, request.k);
    assertFinite(items);
    return { name, items, fault: null, ...parts };
  } catch (error) {
    signal?.throwIfAborted();
    const fault = deadline.aborted ? `no answer within ${milliseconds} ms` : describeFault(error);
    return { name, items: [], fault };
  } finally {
    ended.removeEventListener('abort', stop);
  }
}
