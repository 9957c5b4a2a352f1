/** Limits of a list, an object and a text from outside: above any file of data that is read. A schema may allow less. */
const INPUT_LIMITS = { items: 10_000_000, keys: 5_000_000, characters: 2 ** 27 } as const;

/** The first part of a value that is too large. */
interface Excess {
  readonly path: readonly PropertyKey[];
  readonly expected: string;
  readonly got: string;
}

/** Limits of a walk: no schema reads deeper, and what contains itself has no end. */
const [DEEPEST, MOST_VALUES] = [300, 20_000_000];

/** The size of a value from outside: of its lists, plain objects and texts, not of objects of a class. */
export class InputSize {
  /** Values, those within values too. */
  count = 0;
  /** The first part that is too large. */
  excess: Excess | null = null;
  readonly #path: PropertyKey[] = [];

  constructor(input: unknown) {
    this.#measure(input);
  }

  #measure(value: unknown): void {
    this.count++;
    if (typeof value === 'string') this.#assert(value.length, 'characters');
    else if (value !== null && typeof value === 'object') this.#measureParts(value);
  }

  #assert(size: number, kind: keyof typeof INPUT_LIMITS): void {
    if (size <= INPUT_LIMITS[kind] || this.excess !== null) return;
    const expected = `at most ${INPUT_LIMITS[kind].toLocaleString('en-US')} ${kind}`;
    this.excess = { path: [...this.#path], expected, got: kind === 'keys' ? 'more' : size.toLocaleString('en-US') };
  }

  #measureParts(value: object): void {
    if (this.#path.length >= DEEPEST) return;
    if (Array.isArray(value)) {
      this.#assert(value.length, 'items');
      for (let i = 0; i < value.length && this.#isOpen(); i++) this.#measureAt(i, value[i]);
    } else if (Object.getPrototypeOf(value) === Object.prototype) {
      let keys = 0;
      for (const key in value) {
        this.#assert(++keys, 'keys');
        this.#assert(key.length, 'characters');
        if (!this.#isOpen()) break;
        // An accessor may give another value each time: the schema alone reads it, once.
        this.#measureAt(key, Object.getOwnPropertyDescriptor(value, key)?.value);
      }
    }
  }

  #measureAt(key: PropertyKey, value: unknown): void {
    if (typeof value === 'number') {
      this.count++;
      return;
    }
    this.#path.push(key);
    this.#measure(value);
    this.#path.pop();
  }

  #isOpen(): boolean {
    return this.excess === null && this.count < MOST_VALUES;
  }
}
