import type { ConfigurationFault } from '../../core/errors/errors.ts';
import { formatPath } from '../../core/validation/validation.ts';
import { CONFIG_LIMITS } from './config-limits.ts';

type Keys = readonly PropertyKey[];

/** A mapping or list that was met, with the number of values in it, repeats included. */
interface Seen {
  readonly size: number;
}

const { depth: DEEPEST, repeatedValues: MOST_REPEATS } = CONFIG_LIMITS;

function buildFault(path: Keys, expected: string, got: string): ConfigurationFault {
  return { path: formatPath(path), expected, got };
}

export function buildDepthFault(path: Keys): ConfigurationFault {
  return buildFault(path, `at most ${DEEPEST} levels of mappings and lists`, 'more; nest them less');
}

/**
 * Walks over values that aliases may share, each of them once, since what they stand for can be exponential in the length of the text. Ends at the first fault
 * that further steps could not be taken behind.
 */
class ValueCheck {
  readonly faults: ConfigurationFault[] = [];
  readonly #sizes = new Map<object, Seen | 'open'>();
  #repeated = 0;
  #isOver = false;

  #stopAtFault(fault: ConfigurationFault): 0 {
    this.faults.push(fault);
    this.#isOver = true;
    return 0;
  }

  /** @returns how many values there are from here on, repeats included. */
  count(value: unknown, path: Keys): number {
    if (this.#isOver) return 0;
    if (value === null || typeof value !== 'object') return 1;
    const known = this.#sizes.get(value);
    if (known === 'open')
      return this.#stopAtFault(buildFault(path, 'a value that does not contain itself', 'an alias of its own parent'));
    if (known !== undefined) {
      this.#repeated += known.size;
      if (this.#repeated <= MOST_REPEATS) return known.size;
      return this.#stopAtFault(
        buildFault(path, `at most ${MOST_REPEATS} values repeated by aliases`, 'more; write fewer aliases'),
      );
    }
    if (path.length >= DEEPEST) return this.#stopAtFault(buildDepthFault(path.slice(0, 3)));
    return this.#countWithin(value, path);
  }

  #countWithin(value: object, path: Keys): number {
    this.#sizes.set(value, 'open');
    let size = 1;
    for (const [key, child] of Array.isArray(value) ? value.entries() : Object.entries(value)) {
      const keyPath = [...path, key];
      if (key === '__proto__') this.faults.push(buildFault(keyPath, 'a key other than __proto__', '"__proto__"'));
      size += this.count(child, keyPath);
    }
    this.#sizes.set(value, { size });
    return size;
  }
}

/** Values that a config may not contain: a value within itself, too deep, too often repeated, or with a key `__proto__`. */
export function findValueFaults(value: unknown, path: Keys = []): ConfigurationFault[] {
  const check = new ValueCheck();
  check.count(value, path);
  return check.faults;
}
