import { vi } from 'vitest';
import { runBench } from './command.ts';

/** Runs a bench as `npm run bench -- ARGS` does, in this process. @returns its exit code, and what it printed. */
export async function runBenchCommand(
  ...args: string[]
): Promise<{ readonly status: number; readonly output: string; readonly errors: string }> {
  const lines = { log: [] as string[], error: [] as string[] };
  const spies = (['log', 'error'] as const).map((name) =>
    vi.spyOn(console, name).mockImplementation((line: string) => void lines[name].push(`${line}\n`)),
  );
  try {
    const status = await runBench(args);
    return { status, output: lines.log.join(''), errors: lines.error.join('') };
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}
