/** Runs each part of a retrieval and observes it, for example its time. Parts may be nested. */
export type Watch = <T>(part: string, work: () => Promise<T> | T) => Promise<T>;

export const runUnwatched: Watch = async (_, work) => work();
