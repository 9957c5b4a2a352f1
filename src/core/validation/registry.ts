import { z } from 'zod';
import { ValidationError } from '../errors/errors.ts';
import { freezeDeeply } from '../values/once.ts';
import { createOpenSchema, findNearestWord } from './validation.ts';

const readName = ({ name }: { readonly name: unknown }) => name;

/** Members of one kind by name, in the order in which docs list them. Names are unique. Members that a plugin added stand last. */
export class Registry<Name extends string, M> {
  readonly #nameOf: (member: M) => Name;
  readonly #own: readonly M[];
  #members: readonly M[];
  #byName: ReadonlyMap<string, M>;

  /**
   * @param nameOf by default the property `name`.
   * @throws ValidationError for two members of one name.
   */
  constructor(members: readonly M[], nameOf: (member: M) => Name = readName as never) {
    this.#nameOf = nameOf;
    this.#own = freezeDeeply([...members]);
    this.#members = this.#own;
    this.#byName = new Map(members.map((member) => [this.#nameOf(member), member]));
    const names = this.names;
    const repeated = names.find((name, i) => names.indexOf(name) < i);
    if (repeated !== undefined)
      throw new ValidationError(`two members have one name, rename one of them: ${repeated}`, { name: repeated });
  }

  get members(): readonly M[] {
    return this.#members;
  }

  get names(): readonly Name[] {
    return freezeDeeply(this.#members.map(this.#nameOf));
  }

  /** How many members no plugin added. */
  get ownCount(): number {
    return this.#own.length;
  }

  /** How often members were added or removed. */
  changes = 0;

  /** The member of a name, undefined where there is none. */
  find(name: string): M | undefined {
    return this.#byName.get(name);
  }

  /** The known name nearest to an unknown one, undefined where none is near. */
  nearest(name: string): Name | undefined {
    return findNearestWord(name, this.names) as Name | undefined;
  }

  /**
   * Adds a member to those of this process.
   *
   * @throws ValidationError for a name that is taken.
   */
  add(member: M): void {
    const name = this.#nameOf(member);
    if (this.#byName.has(name)) throw new ValidationError(`name is taken: ${name}; rename the new member`, { name });
    this.#set([...this.#members, member]);
  }

  /** Removes a member that was added; nothing happens for one that was not. */
  remove(name: string): void {
    const member = this.#byName.get(name);
    if (member !== undefined && !this.#own.includes(member))
      this.#set(this.#members.filter((other) => other !== member));
  }

  #set(members: readonly M[]): void {
    this.#members = Object.freeze(members);
    this.#byName = new Map(members.map((member) => [this.#nameOf(member), member]));
    this.changes++;
  }
}

/** Options that name their member by the literal at a key, as `index: hnsw` does. */
export type NamingOptions<Key extends string> = z.ZodObject<{ readonly [K in Key]: z.ZodLiteral<string> }>;

/** The light part of a member, which costs nothing to import: its implementation is another file. */
export interface Definition<Key extends string, Options extends NamingOptions<Key> = NamingOptions<Key>> {
  /** Unknown keys are refused. */
  readonly options: Options;
  /** One line for people. */
  readonly description: string;
}

/** A definition with its implementation, which is imported on first use. */
export type Lazy<D, Implementation> = D & { readonly load: () => Promise<Implementation> };

type NameIn<Key extends string, D extends Definition<Key>> = z.output<D['options']['shape'][Key]>;

type SchemasOf<Members extends readonly { readonly options: z.ZodObject }[]> = {
  -readonly [I in keyof Members]: Members[I]['options'];
};

/** Members that a config may name, with the schema of all their options. */
export class OptionsRegistry<
  Key extends string,
  const Members extends readonly [Definition<Key>, ...Definition<Key>[]],
> extends Registry<NameIn<Key, Members[number]>, Members[number]> {
  /** The options of every member, distinguished by the key. */
  readonly options: z.ZodDiscriminatedUnion<SchemasOf<Members>, Key>;

  /** @param key where options name their member. */
  constructor(key: Key, members: Members) {
    super(members, ({ options }) => options.shape[key].value as NameIn<Key, Members[number]>);
    const build = () =>
      z.discriminatedUnion(
        key,
        this.members.map(({ options }) => options) as never,
      ) as unknown as z.ZodDiscriminatedUnion<SchemasOf<Members>, Key>;
    this.options = createOpenSchema(build, () => this.changes);
  }

  /** The member of a name that the schema of the options has let through. */
  get(name: NameIn<Key, Members[number]>): Members[number] {
    return this.find(name) as Members[number];
  }
}
