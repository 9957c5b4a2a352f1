import { QueryTimeoutError } from '../../core/errors/errors.ts';

/**
 * Runs the work of a query within the time that it may take.
 *
 * @param work stops soon after its signal is aborted.
 * @throws QueryTimeoutError beyond the time, whether the work has stopped or not; and what the work throws.
 */
export async function runInTime<T>(timeoutMs: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const start = performance.now();
  const createTimeout = () => new QueryTimeoutError(performance.now() - start, timeoutMs);
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(createTimeout()), timeoutMs);
  const ended = new Promise<never>((_, reject) => {
    controller.signal.addEventListener('abort', () => reject(controller.signal.reason as Error), { once: true });
  });
  try {
    const result = await Promise.race([work(controller.signal), ended]);
    if (performance.now() - start > timeoutMs) throw createTimeout(); // a search that did not let the timer run
    return result;
  } finally {
    clearTimeout(timer);
  }
}
