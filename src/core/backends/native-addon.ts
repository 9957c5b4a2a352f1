import { existsSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { findOwnFile, readPackageVersion } from '../code/package-root.ts';
import { ChecksumMismatchError, UnavailableError } from '../errors/errors.ts';
import { readBytes, readText } from '../files/files.ts';
import { computeHash } from '../hash/hash.ts';
import { findBackendsFolder } from '../tensors/active-backend.ts';
import { parse } from '../validation/validation.ts';

const require = createRequire(import.meta.url);

/** Native parts of ours, by their names among the backends. */
export const ADDONS = {
  hnsw: { source: 'index/vectors/native', library: 'hnswlib-node', headers: 'src/hnswlib' },
} as const satisfies Readonly<
  Record<
    string,
    {
      /** The folder of its C++ code in src; `addon.cc` is compiled. */
      readonly source: string;
      /** The package that it computes in the place of, and the folder of its headers. */
      readonly library: string;
      readonly headers: string;
    }
  >
>;
export type AddonName = keyof typeof ADDONS;

/** The record in the folder of an addon. */
export const ADDON_RECORD = 'ragpp-backend.json';
const remedy = (name: AddonName) => `run ragpp backend remove ${name} and ragpp backend install ${name}`;

const record = z.strictObject({
  name: z.enum(Object.keys(ADDONS) as [AddonName]),
  /** The version of the package whose headers it was compiled with. */
  library: z.string(),
  /** SHA-256 of its source. */
  source: z.string(),
  /** With which it was tested. */
  node: z.string(),
  compiler: z.string(),
});
export type AddonRecord = z.output<typeof record>;

/** The folder of the installed package that an addon replaces. */
export function findLibraryFolder(name: AddonName): string {
  return dirname(require.resolve(`${ADDONS[name].library}/package.json`));
}

/** The folder of the C++ code. */
export function findAddonSource(name: AddonName): string {
  return findOwnFile(ADDONS[name].source);
}

/** Source and library that an addon must have been made from: others might compute other bits. */
export function describeAddonOrigin(name: AddonName): Pick<AddonRecord, 'library' | 'source'> {
  const folder = findAddonSource(name);
  const files = readdirSync(folder).sort();
  const source = computeHash(files.map((file) => [file, Buffer.from(readBytes(join(folder, file))).toString('utf8')]));
  return { library: readPackageVersion(findLibraryFolder(name)), source };
}

/** The folder that `ragpp backend install` makes. */
export function locateAddon(name: AddonName): string {
  return join(findBackendsFolder(), name);
}

/** The record of an installed addon; null if there is none. @throws ChecksumMismatchError for a damaged one. */
export function readAddonRecord(name: AddonName): AddonRecord | null {
  const path = join(locateAddon(name), ADDON_RECORD);
  if (!existsSync(path)) return null;
  try {
    return parse(record, JSON.parse(readText(path)), path);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new ChecksumMismatchError(path, 'it is not JSON', remedy(name));
  }
}

/** The path of an addon, or the reason why its library computes. Loads nothing. */
export function findAddon(name: AddonName): { readonly path: string } | { readonly fault: string } {
  const found = readAddonRecord(name);
  if (found === null) return { fault: `not installed: ragpp backend install ${name}` };
  const { library, source } = describeAddonOrigin(name);
  if (found.library !== library)
    return { fault: `made with ${ADDONS[name].library} ${found.library}, installed is ${library}: ${remedy(name)}` };
  if (found.source !== source) return { fault: `made from another version of its source: ${remedy(name)}` };
  return { path: join(locateAddon(name), `${name}.node`) };
}

/** @throws UnavailableError. */
export function loadAddon<T>(name: AddonName, path: string): T {
  try {
    return require(path) as T;
  } catch (error) {
    const [reason] = (error as Error).message.split('\n');
    throw new UnavailableError(`addon ${path}`, `${reason}; ${remedy(name)}`, { cause: error });
  }
}
