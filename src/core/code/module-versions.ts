import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readText } from '../files/files.ts';
import { computeHash } from '../hash/hash.ts';
import { type ModuleText, readModule } from './module-text.ts';

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
