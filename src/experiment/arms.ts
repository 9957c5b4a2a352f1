import type { ConfigurationFault } from '../core/errors.ts';
import { hashOf } from '../core/hash.ts';
import { nearestOf, valueAt } from '../core/validation.ts';
import { isPlain, leafPaths, merge, type Path, type Plain } from './config-file.ts';

/** Keys that belong to one arm alone and are not taken over by the arms that extend it. */
export const OWN_KEYS: readonly string[] = [
  'name',
  'description',
  'extends',
  'tune',
  'levels',
  'differences',
  'control',
];

/** Bytes: a file system takes names of 255, and endings follow. */
const LONGEST_FILE_NAME = 120;

/** The beginning of a text, of so many bytes at most; a stream waits for the rest of a character that was cut, and it never comes. */
function cutToBytes(text: string, bytes: number): string {
  return new TextDecoder().decode(Buffer.from(text).subarray(0, bytes), { stream: true });
}

/** An arm's name as a file and as a run tag: `+ IRCP, directed` is `ircp-directed`. A level below zero keeps its sign, a name that is too long gets a hash. */
export function fileName(armName: string): string {
  const name = armName
    .toLowerCase()
    .replace(/=-(?=\d)/g, '=minus-')
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-|-$/g, '');
  if (Buffer.byteLength(name) <= LONGEST_FILE_NAME) return name;
  return `${cutToBytes(name, LONGEST_FILE_NAME - 9)}-${hashOf(armName).slice(0, 8)}`;
}

/** What was laid over an arm, and where in the config it is written. */
export interface Layer {
  readonly place: Path;
  /** The path within the arm that it is about; empty for a whole arm. */
  readonly at: Path;
  readonly content: unknown;
}

/** An arm written out in full, still unchecked. */
export interface ExpandedArm {
  readonly options: unknown;
  /** From the first to the last word: the base, the arms that are extended, the arm itself, the levels of a sweep. */
  readonly layers: readonly Layer[];
  /** Where it is written; null for an arm of a sweep. */
  readonly place: Path | null;
}

/** Whether a layer has a value at a path within its arm. */
export function holds({ at, content }: Layer, keys: Path): boolean {
  return at.every((key, i) => key === keys[i]) && valueAt(content, keys.slice(at.length)) !== undefined;
}

/** Where in the config the value of an arm is written that counts, or undefined where nobody wrote it. */
export function placeOf({ layers }: ExpandedArm, keys: Path): Path | undefined {
  const writer = layers.findLast((layer) => holds(layer, keys));
  return writer === undefined ? undefined : [...writer.place, ...keys.slice(writer.at.length)];
}

function unknownParent(path: string, wanted: unknown, earlier: readonly Plain[]): ConfigurationFault {
  const names = earlier.map((arm) => String(arm.name));
  const nearest = nearestOf(String(wanted), names);
  const fault = {
    path,
    expected: `an arm before it (${names.join(', ') || 'there is none'})`,
    got: JSON.stringify(wanted),
  };
  return nearest === undefined ? fault : { ...fault, nearest };
}

/** What an arm hands on to those that start from it. */
export function inheritable(arm: Plain): Plain {
  return Object.fromEntries(Object.entries(arm).filter(([key]) => !OWN_KEYS.includes(key)));
}

function expandArm(arm: Plain, place: Path, start: ExpandedArm): ExpandedArm {
  const own: Layer = { place, at: [], content: arm };
  const options = merge(inheritable(start.options as Plain), arm);
  const differences = arm.differences ?? leafPaths(inheritable(arm)).map((path) => path.join('.'));
  return { options: { ...options, differences }, layers: [...start.layers, own], place };
}

/**
 * Writes each arm out in full: the arm that it extends, or else the base, with its own keys over it, and the paths of these as its `differences`.
 *
 * @returns as many arms as were given, and a fault for each that extends one that does not stand before it.
 */
export function expandArms(
  raw: readonly unknown[],
  base: Plain,
): { readonly arms: readonly ExpandedArm[]; readonly faults: readonly ConfigurationFault[] } {
  const root: ExpandedArm = { options: base, layers: [{ place: ['base'], at: [], content: base }], place: null };
  const arms: ExpandedArm[] = [];
  const faults: ConfigurationFault[] = [];
  for (const [index, arm] of raw.entries()) {
    const place = ['arms', String(index)];
    if (!isPlain(arm)) {
      arms.push({ options: arm, layers: [{ place, at: [], content: arm }], place });
      continue;
    }
    const parent = arm.extends === undefined ? root : expandedNamed(arms, arm.extends);
    if (parent === undefined) {
      const earlier = arms.map(({ options }) => options).filter(isPlain);
      faults.push(unknownParent(`arms[${index}].extends`, arm.extends, earlier));
    }
    arms.push(expandArm(arm, place, parent ?? root));
  }
  return { arms, faults };
}

export function expandedNamed(arms: readonly ExpandedArm[], name: unknown): ExpandedArm | undefined {
  return arms.find(({ options }) => isPlain(options) && options.name === name);
}

/** All combinations of the values of each path, the last path changing fastest; one empty combination where nothing is tuned. */
export function combinations(tune: Readonly<Record<string, readonly unknown[]>>): Plain[] {
  return Object.entries(tune).reduce<Plain[]>(
    (grid, [path, values]) => grid.flatMap((point) => values.map((value) => ({ ...point, [path]: value }))),
    [{}],
  );
}
