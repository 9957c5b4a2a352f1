import { UnavailableError } from '../errors/errors.ts';

/**
 * Keeps bytes by name for other machines. A name stands for one content: whoever puts it again puts the same bytes.
 */
export interface BlobStore {
  /** @returns null if the store has no such name. @throws ChecksumMismatchError for bytes that are not those put. */
  get(name: string): Promise<Uint8Array | null>;
  /** Keeps bytes, unless the store has the name or no room for them. @returns whether the store has them now. */
  put(name: string, bytes: Uint8Array): Promise<boolean>;
}

/** The answer of a store, or another value while the store is away: what it does not answer is made again. */
export async function answerOr<T>(asked: Promise<T>, otherwise: T): Promise<T> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof UnavailableError) return otherwise;
    throw error;
  }
}
