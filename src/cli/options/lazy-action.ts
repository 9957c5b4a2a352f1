/** The action of a command whose code is imported when the command runs, so that help needs none of it. */
export function lazyAction<Arguments extends readonly unknown[]>(
  load: () => Promise<(...given: Arguments) => void | Promise<void>>,
): (...given: Arguments) => Promise<void> {
  return async (...given) => {
    const act = await load();
    await act(...given);
  };
}
