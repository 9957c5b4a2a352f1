import { setTimeout as pause } from 'node:timers/promises';
import type { ShowableText } from '../display/showable-text.ts';

/** A longer pause that the service asks for is shortened to this. */
const LONGEST_PAUSE_SECONDS = 60;

/** The fault of an attempt that may be repeated. */
export class PassingFault extends Error {
  /** As the service asks for it. */
  readonly pauseSeconds: number;
  override readonly message: ShowableText;

  /** @param cause the error of the whole, if this attempt is the last. */
  constructor(message: ShowableText, { pauseSeconds = 0, cause }: { pauseSeconds?: number; cause?: Error } = {}) {
    super(message, { cause });
    this.message = message;
    this.pauseSeconds = pauseSeconds;
  }
}

/** How attempts are repeated. */
export interface AttemptOptions {
  readonly maxAttempts: number;
  /** Before the second attempt; doubles from attempt to attempt. */
  readonly pauseSeconds: number;
}

/**
 * Repeats an attempt that ends in a {@link PassingFault}. The pause doubles from attempt to attempt; a longer one of the fault is kept, up to a minute.
 *
 * @param giveUp the error of the last attempt, from its fault.
 * @throws what the attempt throws; the error of `giveUp`; the reason of the signal.
 */
export async function repeatAttempts<T>(
  attempt: () => Promise<T>,
  { maxAttempts, pauseSeconds }: AttemptOptions,
  giveUp: (fault: PassingFault, attempts: number) => Error,
  { signal, onRetry }: { readonly signal?: AbortSignal | undefined; readonly onRetry?: () => void } = {},
): Promise<T> {
  for (let attempts = 1; ; attempts++) {
    signal?.throwIfAborted();
    try {
      return await attempt();
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof PassingFault)) throw error;
      if (attempts === maxAttempts) throw giveUp(error, attempts);
      onRetry?.();
      const seconds = Math.max(pauseSeconds * 2 ** (attempts - 1), error.pauseSeconds);
      const milliseconds = 1000 * Math.min(seconds, LONGEST_PAUSE_SECONDS);
      await pause(milliseconds, undefined, signal === undefined ? {} : { signal }).catch(() => {});
    }
  }
}
