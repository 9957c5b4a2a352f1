import { readFileSync, writeFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

export function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  collect();
}

/** Begins a new peak of the memory of this process; without /proc the peak is that since its start. */
export function resetPeakMemory(): void {
  try {
    writeFileSync('/proc/self/clear_refs', '5'); // proc(5): resets VmHWM
  } catch {
    // not Linux, or not allowed
  }
}

/** Bytes that this process had in memory at most since {@link resetPeakMemory}. */
export function readPeakMemoryBytes(): number {
  try {
    const [, kibibytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
    if (kibibytes !== undefined) return Number(kibibytes) * 1024;
  } catch {
    // not Linux
  }
  return process.resourceUsage().maxRSS * 1024;
}
