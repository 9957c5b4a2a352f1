/** Runs what it is given in the order in which it was given, each when all before it are over; one that fails does not stop the next. */
export function oneAtATime(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const result = last.then(work);
    last = result.catch(() => {}); // whoever asked for it hears of it
    return result;
  };
}
