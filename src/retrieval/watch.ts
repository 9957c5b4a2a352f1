/** Told of each part of a retrieval as it is done; parts may lie within others. */
export type Watch = <T>(part: string, work: () => Promise<T> | T) => Promise<T>;

export const unwatched: Watch = async (_, work) => work();
