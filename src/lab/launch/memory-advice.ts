import { getHeapStatistics } from 'node:v8';

const OUT_OF_MEMORY = /heap out of memory|ERR_WORKER_OUT_OF_MEMORY/;

/** Whether a dead process complained that V8's heap was full. */
export function isOutOfMemory(words: string): boolean {
  return OUT_OF_MEMORY.test(words);
}

/** What to do about a full heap of V8, of this process or of one that was started on this machine with the same options. */
export function describeMemoryAdvice(): string {
  const limitMebibytes = Math.round(getHeapStatistics().heap_size_limit / 2 ** 20);
  return `the heap limit is ${limitMebibytes} MiB; raise it with NODE_OPTIONS=--max-old-space-size=${2 * limitMebibytes}, or take fewer queries with --limit-queries`;
}
