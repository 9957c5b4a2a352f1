/** Runs functions one after the other in the order of the calls; an error does not stop the next. */
export function createSerialRunner(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const result = last.then(work);
    last = result.catch(() => {}); // the caller handles the error
    return result;
  };
}
