const controller = new AbortController();

/** Aborted when the program is told to end; what listens must be done when its listener returns. */
export const interruption: AbortSignal = controller.signal;

/** Exit codes, as a shell gives them to what a signal ends. */
const SIGNALS = { SIGINT: 130, SIGTERM: 143 } as const;

/** Ends the program on Ctrl-C where it stands, after those who listen have let go of what they hold. */
export function endOnSignals(): void {
  for (const [signal, code] of Object.entries(SIGNALS)) {
    process.on(signal, () => {
      controller.abort();
      process.stderr.write(
        '\nragpp: interrupted; what was cached stays: a run goes on from there with --resume, a training when it is started again\n',
      );
      setImmediate(() => process.exit(code)); // after the progress bar has heard of it too and given the cursor back
    });
  }
}
