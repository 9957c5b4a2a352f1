import { closeProgress } from '../../core/terminal/progress.ts';
import { EXIT_CODES } from './supervision.ts';

/** A command that worked and reported a failed check. Exit code 1. */
export class FailedCheck extends Error {
  constructor(what: string) {
    super(what);
    this.name = 'FailedCheck';
  }
}

const controller = new AbortController();

/** Aborted when the program is asked to end; listeners must finish before they return. */
export const interruption: AbortSignal = controller.signal;

/** Ends the process, after listeners have released their resources. */
function listenForEnd(signal: keyof typeof EXIT_CODES): () => void {
  const endProcess = () => {
    controller.abort();
    closeProgress();
    setImmediate(() => process.exit(EXIT_CODES[signal]));
  };
  process.on(signal, endProcess);
  return () => void process.off(signal, endProcess);
}

/** Ends the process in order on SIGINT, which also is how the supervisor asks for it. During synchronous work the signal waits, and the supervisor does not. */
export function endOnInterrupt(): void {
  listenForEnd('SIGINT');
}

/**
 * Ends the process in order on SIGTERM while something is awaited. At all other times SIGTERM has its usual effect, so that it ends the process at once also in the
 * middle of synchronous work.
 */
export async function runHeedingTermination<T>(work: () => Promise<T>): Promise<T> {
  const ignore = listenForEnd('SIGTERM');
  try {
    return await work();
  } finally {
    ignore();
  }
}
