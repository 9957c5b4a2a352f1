import { PluginError } from '../../core/errors/errors.ts';

/** A member of a plugin, as errors name it. */
export interface Guard {
  /** What the plugin's function returns; an error that it throws becomes one that names the member. */
  run<T>(work: () => T): T;
  runAsync<T>(work: () => T | Promise<T>): Promise<T>;
  /** @param fault ends with what to do. */
  fail(fault: string, facts?: Readonly<Record<string, unknown>>): never;
  /** @throws PluginError for an array of another length or with a number that is not finite. @param nameNumber names a position. */
  assertNumbers(numbers: unknown, length: number, nameNumber: (i: number) => string): void;
}

/** @param plugin name and version. @param member such as `signal short`. */
export function createGuard(plugin: string, member: string): Guard {
  const fail = (fault: string, facts: Readonly<Record<string, unknown>> = {}, cause?: unknown): never => {
    throw new PluginError(plugin, `${member} ${fault}`, { member, ...facts }, cause === undefined ? {} : { cause });
  };
  const wrap = (error: unknown): never => {
    if (error instanceof PluginError) throw error;
    const message = error instanceof Error ? error.message : String(error);
    return fail(`threw: ${message}; correct the plugin`, {}, error);
  };
  return {
    fail,
    run(work) {
      try {
        return work();
      } catch (error) {
        return wrap(error);
      }
    },
    async runAsync(work) {
      try {
        return await work();
      } catch (error) {
        return wrap(error);
      }
    },
    assertNumbers(numbers, length, nameNumber) {
      if (!(numbers instanceof Float32Array || numbers instanceof Float64Array))
        return fail(`returned no array of floats: ${describe(numbers)}; return a Float32Array or Float64Array`);
      if (numbers.length !== length)
        return fail(`returned ${numbers.length} numbers: expected ${length}; return one for each nameNumber`);
      const at = numbers.findIndex((number: number) => !Number.isFinite(number));
      if (at >= 0) fail(`returned ${numbers[at]} for ${nameNumber(at)}; return a finite number`);
    },
  };
}

export function describe(value: unknown): string {
  return value === null || typeof value !== 'object' ? String(value) : (value.constructor?.name ?? 'an object');
}
