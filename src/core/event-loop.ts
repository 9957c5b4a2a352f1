/**
 * Lets signals and timers in. Tensor operations on wasm and cpu resolve their promises without ever returning to the event loop, so that a long computation made
 * of them does not notice Ctrl-C until it is over, unless it awaits this now and then.
 */
export function letEventsIn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
