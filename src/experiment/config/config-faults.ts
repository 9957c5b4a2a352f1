import type { ConfigurationFault } from '../../core/errors.ts';
import { formatPath } from '../../core/validation.ts';
import { type ExpandedArm, holds, type Layer } from './arms.ts';
import { type ComposedConfig, writerOf } from './config-composition.ts';
import { isPlain, keysOf, type Path, type Plain } from './config-file.ts';

/** A config whose arms are written out. */
interface ExpandedConfig {
  readonly composed: ComposedConfig;
  readonly arms: readonly ExpandedArm[];
}

/** `arms[3].decay.halfLifeHours` */
function shown(keys: Path): string {
  return formatPath(keys.map((key) => (/^\d+$/.test(key) ? Number(key) : key)));
}

/** The path of a fault as keys; what follows `: ` is within a value that is not in the config itself. */
function keysIn(path: string, config: unknown): { readonly keys: Path; readonly remark: string } {
  const [place = '', ...remark] = path.split(/(?=: )/);
  const dotted = place.replace(/\[(\d+)\]/g, '.$1').replace(/^\./, '');
  return { keys: keysOf(dotted, config), remark: remark.join('') };
}

/** Where a layer has, or could have, a value at a path within its arm. A key that does not exist is the fault of a factor, not of each of its values. */
function placeIn({ place, at }: Layer, keys: Path, fault: ConfigurationFault): Path {
  const isKey = at.length > 0 && at.length === keys.length && fault.got.startsWith('unknown key');
  return isKey ? place.slice(0, 3) : [...place, ...keys.slice(at.length)];
}

/** An error of a swept arm that none of its levels caused: reported for the first arm that has it. */
function sweptPath(arm: ExpandedArm, keys: Path): string {
  return `sweep: arm ${JSON.stringify((arm.options as { readonly name: string }).name)}: ${shown(keys)}`;
}

/**
 * The path in the config of an error of a resolved arm, or undefined if the error is reported at the arm or base that it comes from.
 *
 * @param told the paths of all faults.
 */
function pathOfArmFault(
  fault: ConfigurationFault,
  keys: Path,
  arm: ExpandedArm,
  told: ReadonlySet<string>,
): string | undefined {
  const { layers, place } = arm;
  const own = layers.findLastIndex((layer) => layer.place === place);
  const writer = layers.findLastIndex((layer) => holds(layer, keys));
  const earlier = layers.slice(0, place === null ? layers.length : own);
  const sources = writer >= 0 ? earlier.slice(writer, writer + 1) : earlier;
  if (writer >= 0 && (layers[writer] as Layer).place[0] === 'sweep')
    return shown(placeIn(layers[writer] as Layer, keys, fault));
  const isTold = sources.some((layer) => told.has(shown(placeIn(layer, keys, fault))));
  const isOrphan = place !== null && writer < 0 && told.has(shown([...place, 'extends']));
  if (isTold || isOrphan) return undefined;
  return place === null ? sweptPath(arm, keys) : shown([...place, ...keys]);
}

/**
 * Maps an error of the resolved config to the config as written.
 *
 * @param expanded the written-out config.
 */
function inWritten(
  fault: ConfigurationFault,
  expanded: Plain,
  arms: readonly ExpandedArm[],
  told: ReadonlySet<string>,
): ConfigurationFault[] {
  const { keys, remark } = keysIn(fault.path, expanded);
  const [first, place, ...rest] = keys;
  const arm = first === 'arms' && place !== undefined ? arms[Number(place)] : undefined;
  if (arm === undefined || !isPlain(arm.options) || rest.length === 0) return [fault];
  const path = pathOfArmFault(fault, rest, arm, told);
  return path === undefined ? [] : [{ ...fault, path: `${path}${remark}` }];
}

/** An error at its path in the file that set the value, with that file if it is not the requested one. */
function inFile(fault: ConfigurationFault, composed: ComposedConfig): ConfigurationFault {
  const { keys, remark } = keysIn(fault.path, composed.content);
  const { file, path } = writerOf(keys, composed);
  const located = { ...fault, path: `${shown(path)}${remark}` };
  return file === composed.source ? located : { ...located, file };
}

/** Every error once, at the place and in the file where the value was set. */
export function locateFaults(faults: readonly ConfigurationFault[], config: ExpandedConfig): ConfigurationFault[] {
  const told = new Set(faults.map(({ path }) => path));
  const { composed, arms } = config;
  const expanded = { ...composed.content, arms: arms.map(({ options }) => options) };
  const written = faults.flatMap((fault) => inWritten(fault, expanded, arms, told));
  // Each arm of a sweep reports the same error, with its own name and number.
  const id = ({ path, expected, got }: ConfigurationFault) =>
    path.startsWith('sweep') ? `${path.replace(/^sweep: arm .*: /, '')} ${expected}` : `${path} ${expected} ${got}`;
  const unique = [...new Map(written.toReversed().map((fault) => [id(fault), fault])).values()].reverse();
  return unique.map((fault) => inFile(fault, composed));
}
