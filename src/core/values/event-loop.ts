/**
 * Lets signals and timers in. Tensor operations on wasm and cpu resolve their promises without ever returning to the event loop, so that a long computation made
 * of them does not notice Ctrl-C until it is over, unless it awaits this now and then.
 */
export function letEventsIn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

/** The interval at which a long computation lets events in, and so notices Ctrl-C. */
const BREAK_MILLISECONDS = 50;

/** For a loop of short steps: {@link letEventsIn} whenever the last time is some while ago, so that awaiting it at every step costs next to nothing. */
export function createEventBreaks(): () => Promise<void> {
  let last = performance.now();
  return async () => {
    if (performance.now() - last < BREAK_MILLISECONDS) return;
    await letEventsIn();
    last = performance.now();
  };
}
