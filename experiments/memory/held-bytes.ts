import { setTimeout as pause } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Collections in a row that must find nothing more, since typed arrays are given back some time after their owners. */
const QUIET = 2;

/**
 * Bytes of objects in V8's heap and of their memory outside of it, such as typed arrays, after collections of what
 * nothing refers to.
 */
export async function measureBytesNow(): Promise<number> {
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

/** Bytes by which the process may differ before and after a measurement that counts. */
const STEADY = 10_000;

const ATTEMPTS = 5;

/** What a process holds before something is made, with it, and after it is given back. */
async function measureOnce(make: () => object, before: number) {
  const kept = [make()];
  const held = await measureBytesNow();
  kept.pop(); // the use here keeps the result alive until then
  const after = await measureBytesNow();
  return { bytes: held - after, drift: Math.abs(after - before), after };
}

/**
 * Bytes that stay in use for what `make` returns, measured on the process: what it refers to and was there before costs nothing. It is made once beforehand, so that
 * what others keep for the next time (compiled code, tables of a tokeniser) is not counted. A measurement counts if the process holds as much after it as before:
 * what is given back meanwhile, such as garbage of earlier work, is no part of it. If none of five is that steady, the steadiest counts. Good to some kilobytes.
 */
export async function measureHeldBytes(make: () => object): Promise<number> {
  make();
  let best = await measureOnce(make, await measureBytesNow());
  let { after } = best;
  for (let attempt = 1; attempt < ATTEMPTS && best.drift > STEADY; attempt++) {
    const next = await measureOnce(make, after);
    ({ after } = next);
    if (next.drift < best.drift) best = next;
  }
  return best.bytes;
}
