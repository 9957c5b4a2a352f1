import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import jsTokens from 'js-tokens';
import { readText } from '../files/files.ts';
import { computeHash } from '../hash/hash.ts';

/** The content of one module, whatever its formatting and the paths that it imports from. */
interface ModuleText {
  /** Hash of all tokens but imports and re-exports. */
  readonly body: string;
  /** Imports from other modules. */
  readonly links: readonly Link[];
  /** Every string of the code: names of packages are among them. */
  readonly strings: ReadonlySet<string>;
}

interface Link {
  /** The imported or re-exported name, and the name that it gets. */
  readonly binding: string;
  readonly specifier: string;
}

/** After these words a line break ends the statement. */
const ENDED_BY_BREAK = new Set(['return', 'break', 'continue', 'yield']);

/** After these a formatter may add `|` or `&` before the first member of a type. */
const BEFORE_TYPE = new Set(['=', ':', '(', '<', ',', '=>', '[', 'as', 'extends', 'satisfies']);

/** Tokens before and after an expression or a type that is in parentheses as a whole. */
const BEFORE_WHOLE = new Set(['=>', 'return', '(', '[', ',', '=', ':', '?']);
const AFTER_WHOLE = new Set([')', ']', '}', ',', ';']);

/**
 * A non-null assertion before a division. js-tokens reads JavaScript, where `!` begins an expression: it would read the
 * division as a regular expression.
 */
const ASSERTED_DIVIDEND = /!(?=\s*\/(?![/*]))(?<=[\w$)\]]!)/g;

/** A letter that looks like `!`: it ends the dividend as a name does. */
const LETTER_FOR_ASSERTION = 'ǃ';

const LINE_BREAK = '\n';

function isString(token: string | undefined): token is string {
  return token !== undefined && (token[0] === "'" || token[0] === '"');
}

function unquoted(token: string): string {
  return token.slice(1, -1);
}

/** True if a separator has nothing to separate. A comma before `]` does where an array has holes. */
function isTrailing(before: string | undefined, separator: ',' | ';', next: string): boolean {
  if (separator === ';') return next === '}';
  if (before === ',' || before === '[') return false;
  return next === ')' || next === ']' || next === '}' || next === '>';
}

const WITHOUT_MEANING: ReadonlySet<string> = new Set([
  'WhiteSpace',
  'SingleLineComment',
  'MultiLineComment',
  'HashbangComment',
]);

/**
 * The tokens without comments and white space, and without the separators that a formatter adds where it breaks a line.
 * Line breaks that end a statement are tokens.
 */
function significantTokens(text: string): string[] {
  const tokens: string[] = [];
  let last: string | undefined;
  let onNewLine = false;
  for (const { type, value } of jsTokens(text.replace(ASSERTED_DIVIDEND, LETTER_FOR_ASSERTION))) {
    if (WITHOUT_MEANING.has(type)) continue;
    switch (type) {
      case 'LineTerminatorSequence':
        if (last !== undefined && ENDED_BY_BREAK.has(last)) tokens.push(LINE_BREAK);
        onNewLine = true;
        continue;
      case 'Punctuator':
        if ((value === '|' || value === '&') && last !== undefined && BEFORE_TYPE.has(last)) continue;
        if (onNewLine && (value === '++' || value === '--')) tokens.push(LINE_BREAK);
        if ((last === ',' || last === ';') && isTrailing(tokens[tokens.length - 2], last, value)) tokens.pop();
        if (value === '>>' || value === '>>>') tokens.push(...value);
        else tokens.push(value);
        break;
      default:
        tokens.push(value);
    }
    last = value;
    onNewLine = false;
  }
  return withoutWrappings(tokens);
}

/** A bracket that is open, and whether it has held a comma. */
interface Opened {
  readonly at: number;
  comma: boolean;
}

/** True if parentheses hold a whole expression that means the same without them. A list and an object do not. */
function isWrapping(tokens: readonly string[], { at, comma }: Opened, end: number): boolean {
  const before = tokens[at - 1] as string;
  if (comma || !BEFORE_WHOLE.has(before) || tokens[at + 1] === '{' || at + 1 === end) return false;
  const after = tokens[end + 1] as string;
  return AFTER_WHOLE.has(after) || (before === '?' && after === ':');
}

/** The tokens without the parentheses that a formatter adds around an expression that it breaks, or that it does not. */
function withoutWrappings(tokens: readonly string[]): string[] {
  const dropped = new Uint8Array(tokens.length);
  const open: Opened[] = [];
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at];
    if (token === '(' || token === '[' || token === '{') open.push({ at, comma: false });
    else if (token === ')' || token === ']' || token === '}') {
      const opened = open.pop();
      if (token === ')' && opened !== undefined && isWrapping(tokens, opened, at)) dropped[opened.at] = dropped[at] = 1;
    } else if (token === ',' && open.length > 0) (open.at(-1) as Opened).comma = true;
  }
  return tokens.filter((_, at) => dropped[at] === 0);
}

/** A statement that imports or re-exports: the tokens before `from`, and where it ends. */
interface Statement {
  readonly clause: readonly string[];
  readonly specifier: string;
  readonly end: number;
}

/** The statement at a token `import` or `export`; null where that token begins something else, such as `import(...)`. */
function statementAt(tokens: readonly string[], start: number): Statement | null {
  if (tokens[start - 1] === '.') return null;
  for (let at = start + 1; at < tokens.length; at++) {
    const token = tokens[at] as string;
    const from = tokens[at - 1] === 'from';
    if (isString(token) && (from || (at === start + 1 && tokens[start] === 'import'))) {
      const clause = tokens.slice(start + 1, from ? at - 1 : at);
      return { clause, specifier: unquoted(token), end: tokens[at + 1] === ';' ? at + 2 : at + 1 };
    }
    if (!/^[\w$'"{},*]/.test(token) || token === 'import' || token === 'export') return null;
  }
  return null;
}

/** The tokens between the commas of a clause. */
function splitModuleParts(clause: readonly string[]): string[][] {
  const parts: string[][] = [[]];
  for (const token of clause) {
    if (token === ',') parts.push([]);
    else if (token !== '{' && token !== '}') parts.at(-1)?.push(token);
  }
  return parts.filter((part) => part.length > 0);
}

/** `type A`, `type A as B`: a type among values. */
function isType(part: readonly string[]): boolean {
  return part[0] === 'type' && (part.length === 2 || part.length === 4);
}

/** The bindings of a statement one by one, and that it runs the module; none where it asks for types alone. */
function listModuleBindings(keyword: string, clause: readonly string[]): string[] {
  if (clause[0] === 'type' && clause.length > 1 && clause[1] !== ',') return [];
  const brace = clause.indexOf('{');
  const named = brace === -1 ? [] : splitModuleParts(clause.slice(brace)).filter((part) => !isType(part));
  const whole = splitModuleParts(brace === -1 ? clause : clause.slice(0, brace));
  const renamed = whole.map((part) => (part[0] === '*' ? part : ['default', 'as', ...part]));
  return ['', ...[...renamed, ...named].map((part) => `${keyword} ${part.join(' ')}`)];
}

/** True if a string is the module of `import(...)` or of `new URL(...)`. */
function leadsToModule(tokens: readonly string[], at: number): boolean {
  if (tokens[at - 1] !== '(' || tokens[at - 3] === '.' || !/^.\.\.?\//.test(tokens[at] as string)) return false;
  return tokens[at - 2] === 'import' || (tokens[at - 2] === 'URL' && /\.[cm]?[jt]s.$/.test(tokens[at] as string));
}

/**
 * Reads a module of JavaScript or TypeScript. Comments, white space, the order of imports, and imports of types alone
 * make no difference; any other token does.
 */
export function readModule(text: string): ModuleText {
  const tokens = significantTokens(text);
  const body: string[] = [];
  const links: Link[] = [];
  const strings = new Set<string>();
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at] as string;
    const statement = token === 'import' || token === 'export' ? statementAt(tokens, at) : null;
    if (statement !== null) {
      const { clause, specifier, end } = statement;
      const bindings = listModuleBindings(token, clause);
      links.push(...bindings.map((binding) => ({ binding, specifier })));
      if (bindings.length > 0) strings.add(specifier);
      at = end - 1;
    } else if (isString(token) && leadsToModule(tokens, at)) {
      links.push({ binding: `${body.length}`, specifier: unquoted(token) });
      body.push('');
    } else {
      if (isString(token)) strings.add(unquoted(token));
      body.push(token);
    }
  }
  return { body: computeHash(body.join('\n')), links, strings };
}

/** A module whose links were followed. */
interface Reached {
  readonly hash: string;
  /** Paths of the modules that it leads to. */
  readonly targets: readonly string[];
}

/** A module on the way: its own links were followed, or are being. */
interface Visited {
  readonly path: string;
  readonly text: ModuleText;
  /** By specifier. */
  readonly targets: Map<string, string>;
  readonly order: number;
  /** The earliest module on the way that this one leads back to. */
  earliest: number;
}

const CODE = /\.[cm]?[jt]sx?$/;

/** A package's name, of a specifier that may lead into the package. */
const PACKAGE = /^(?:@[^/]+\/)?[^/]+/;

function isRelative(specifier: string): boolean {
  return /^\.\.?\//.test(specifier);
}

/**
 * Versions of modules by meaning: hashes of the code that a module reaches through its imports. A relative import
 * counts as the hash of the module that it leads to. So moving or renaming a file changes no version, nor does editing a
 * comment. Modules that import each other are found by Tarjan's algorithm and hashed together. Each module is read once.
 */
export class ModuleVersions {
  readonly #packages: ReadonlyMap<string, string | null>;
  readonly #reached = new Map<string, Reached>();

  /** @param packages those that count, with their installed versions; null for one that is not installed. */
  constructor(packages: ReadonlyMap<string, string | null> = new Map()) {
    this.#packages = packages;
  }

  /**
   * The version of all code that some modules reach.
   *
   * @param modules paths or file URLs.
   * @throws StorageError for a module that is not there.
   */
  versionOf(modules: readonly string[]): string {
    return computeHash(modules.map((module) => this.#follow(resolveModulePath(module)).hash).sort());
  }

  /** The paths of all files that some modules reach, themselves included. */
  reachedFrom(modules: readonly string[]): ReadonlySet<string> {
    const found = new Set(modules.map(resolveModulePath));
    for (const path of found) for (const target of this.#follow(path).targets) found.add(target);
    return found;
  }

  #follow(path: string): Reached {
    if (!this.#reached.has(path)) this.#visit(path, new Map(), []);
    return this.#reached.get(path) as Reached;
  }

  /** @param way the visited modules that have no hash yet. */
  #visit(path: string, visited: Map<string, Visited>, way: Visited[]): Visited {
    const text = readFile(path);
    const module: Visited = { path, text, targets: new Map(), order: visited.size, earliest: visited.size };
    const height = way.push(module) - 1;
    visited.set(path, module);
    for (const { specifier } of text.links) {
      if (!isRelative(specifier) || module.targets.has(specifier)) continue;
      const target = join(dirname(path), specifier);
      module.targets.set(specifier, target);
      if (this.#reached.has(target)) continue;
      const known = visited.get(target);
      const earliest = known === undefined ? this.#visit(target, visited, way).earliest : known.order;
      module.earliest = Math.min(module.earliest, earliest);
    }
    if (module.earliest === module.order) this.#close(way.splice(height));
    return module;
  }

  /** Hashes modules that lead to each other: by what each says, then by what those say that it leads to. */
  #close(modules: readonly Visited[]): void {
    let hashes = this.#hashes(modules, new Map());
    for (let kinds = 0; modules.length > 1 && listModuleKinds(hashes) > kinds; hashes = this.#hashes(modules, hashes))
      kinds = listModuleKinds(hashes);
    const all = [...hashes.values()].sort();
    for (const { path, targets } of modules) {
      const own = hashes.get(path) as string;
      this.#reached.set(path, {
        hash: modules.length === 1 ? own : computeHash([own, all]),
        targets: [...targets.values()],
      });
    }
  }

  /** @param known hashes of the modules themselves so far; none in the beginning. */
  #hashes(modules: readonly Visited[], known: ReadonlyMap<string, string>): Map<string, string> {
    const hashOfTarget = (target: string) => this.#reached.get(target)?.hash ?? known.get(target) ?? null;
    return new Map(
      modules.map(({ path, text: { body, links, strings }, targets }) => {
        const written = links.map(({ binding, specifier }) => {
          const target = targets.get(specifier);
          return `${binding} from ${target === undefined ? specifier : hashOfTarget(target)}`;
        });
        return [path, computeHash([body, [...new Set(written)].sort(), this.#versions(strings)])];
      }),
    );
  }

  /** The packages among some strings, with their versions. */
  #versions(strings: ReadonlySet<string>): string[] {
    const names = new Set([...strings].map((text) => PACKAGE.exec(text)?.[0] ?? ''));
    const counted = [...names].filter((name) => this.#packages.has(name));
    return counted.map((name) => `${name}@${this.#packages.get(name)}`).sort();
  }
}

function listModuleKinds(hashes: ReadonlyMap<string, string>): number {
  return new Set(hashes.values()).size;
}

function resolveModulePath(module: string): string {
  return module.startsWith('file:') ? fileURLToPath(module) : resolve(module);
}

function readFile(path: string): ModuleText {
  const text = readText(path);
  return CODE.test(path) ? readModule(text) : { body: computeHash(text), links: [], strings: new Set() };
}
