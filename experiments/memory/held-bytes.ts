import { setTimeout as pause } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Collections in a row that must find nothing more, since typed arrays are given back some time after their owners. */
const QUIET = 2;

/** Bytes of objects in V8's heap and of their memory outside of it, such as typed arrays. */
async function measureBytesNow(): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let quiet = 0; quiet < QUIET; ) {
    collect();
    await pause(5);
    const { heapUsed, external } = process.memoryUsage();
    quiet = heapUsed + external < least ? 0 : quiet + 1;
    least = Math.min(least, heapUsed + external);
  }
  return least;
}

/**
 * Bytes that stay in use for what `make` returns, measured on the process: what it refers to and was there before costs nothing. It is made once beforehand, so that
 * what others keep for the next time (compiled code, tables of a tokeniser) is not counted. Good to some kilobytes, while nothing else runs.
 */
export async function measureHeldBytes(make: () => object): Promise<number> {
  make();
  const before = await measureBytesNow();
  const kept = [make()];
  const after = await measureBytesNow();
  return kept.pop() === undefined ? 0 : after - before; // the use here keeps the result alive until then
}
