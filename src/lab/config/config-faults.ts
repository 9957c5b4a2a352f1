import type { ConfigurationFault } from '../../core/errors/errors.ts';
import { formatPath } from '../../core/validation/validation.ts';
import { type ExpandedArm, hasValueAt, type Layer } from '../composition/arms.ts';
import { type ComposedConfig, findWriter } from '../composition/config-composition.ts';
import { isPlain, type Path, type Plain, parsePath } from '../composition/config-file.ts';

/** A config whose arms are written out. */
interface ExpandedConfig {
  readonly composed: ComposedConfig;
  readonly arms: readonly ExpandedArm[];
}

/** `arms[3].decay.halfLifeHours` */
function formatKeys(keys: Path): string {
  return formatPath(keys.map((key) => (/^\d+$/.test(key) ? Number(key) : key)));
}

/** The path of a fault as keys; what follows `: ` is within a value that is not in the config itself. */
function parseFaultPath(path: string, config: unknown): { readonly keys: Path; readonly remark: string } {
  const [keyPath = '', ...remark] = path.split(/(?=: )/);
  const dotted = keyPath.replace(/\[(\d+)\]/g, '.$1').replace(/^\./, '');
  return { keys: parsePath(dotted, config), remark: remark.join('') };
}

/** Where a layer has, or could have, a value at a path within its arm. A key that does not exist is the fault of a factor, not of each of its values. */
function keyPathIn({ keyPath, at }: Layer, keys: Path, fault: ConfigurationFault): Path {
  const isKey = keyPath[0] === 'sweep' && at.length === keys.length && fault.got.startsWith('unknown key');
  return isKey ? keyPath.slice(0, 3) : [...keyPath, ...keys.slice(at.length)];
}

/** Whether a layer is a step, or a value at a path, of an arm of a mapping. */
function isPartOfArm({ keyPath, at }: Layer): boolean {
  return keyPath[0] === 'arms' && at.length > 0;
}

/** An error of a swept arm that none of its levels caused: reported for the first arm that has it. */
function formatSweptPath(arm: ExpandedArm, keys: Path): string {
  return `sweep: arm ${JSON.stringify((arm.options as { readonly name: string }).name)}: ${formatKeys(keys)}`;
}

/**
 * The path in the config of an error of a resolved arm, or undefined if the error is reported at the arm or base that it comes from.
 *
 * @param told the paths of all faults.
 */
function locateArmFault(
  fault: ConfigurationFault,
  keys: Path,
  arm: ExpandedArm,
  told: ReadonlySet<string>,
): string | undefined {
  const { layers, keyPath } = arm;
  const own = layers.findLastIndex((layer) => layer.keyPath === keyPath);
  const writer = layers.findLastIndex((layer) => hasValueAt(layer, keys));
  const earlier = layers.slice(0, keyPath === null ? layers.length : own);
  const sources = writer >= 0 ? earlier.slice(writer, writer + 1) : earlier;
  const writing = layers[writer];
  if (writing !== undefined && (writing.keyPath[0] === 'sweep' || isPartOfArm(writing)))
    return formatKeys(keyPathIn(writing, keys, fault));
  const isTold = sources.some((layer) => told.has(formatKeys(keyPathIn(layer, keys, fault))));
  const isOrphan = keyPath !== null && writer < 0 && told.has(formatKeys([...keyPath, 'extends']));
  if (isTold || isOrphan) return undefined;
  return keyPath === null ? formatSweptPath(arm, keys) : formatKeys([...keyPath, ...keys]);
}

/** Where a path in one of several datasets is written. */
export function findDatasetPath(keys: Path, { datasetPaths }: ComposedConfig): Path {
  if (datasetPaths === undefined) return keys;
  const [first, name = '', ...rest] = keys;
  if (first === 'dataset') return [...datasetPaths.chosen, ...keys.slice(1)];
  const path = first === 'datasets' ? datasetPaths.byName.get(name) : undefined;
  return path === undefined ? keys : [...path, ...rest];
}

/**
 * Maps an error of the resolved config to the config as written.
 *
 * @param expanded the written-out config.
 */
function translateToWritten(
  fault: ConfigurationFault,
  expanded: Plain,
  { composed, arms }: ExpandedConfig,
  told: ReadonlySet<string>,
): ConfigurationFault[] {
  const { keys, remark } = parseFaultPath(fault.path, expanded);
  const [first, keyPath, ...rest] = keys;
  if (first === 'dataset' || first === 'datasets')
    return [{ ...fault, path: `${formatKeys(findDatasetPath(keys, composed))}${remark}` }];
  const arm = first === 'arms' && keyPath !== undefined ? arms[Number(keyPath)] : undefined;
  if (arm === undefined || !isPlain(arm.options) || rest.length === 0) return [fault];
  const path = locateArmFault(fault, rest, arm, told);
  return path === undefined ? [] : [{ ...fault, path: `${path}${remark}` }];
}

/** An error at its path in the file that set the value, with that file if it is not the requested one. */
function locateInFile(fault: ConfigurationFault, composed: ComposedConfig): ConfigurationFault {
  const { keys, remark } = parseFaultPath(fault.path, composed.content);
  const { file, path, line } = findWriter(keys, composed);
  const located = { ...fault, path: `${formatKeys(path)}${remark}`, ...(line === undefined ? {} : { line }) };
  return file === composed.source ? located : { ...located, file };
}

/** Every error once, at the place and in the file where the value was set. */
export function locateFaults(faults: readonly ConfigurationFault[], config: ExpandedConfig): ConfigurationFault[] {
  const told = new Set(faults.map(({ path }) => path));
  const { composed, arms } = config;
  const expanded = { ...composed.content, arms: arms.map(({ options }) => options) };
  const written = faults.flatMap((fault) => translateToWritten(fault, expanded, config, told));
  // Each arm of a sweep reports the same error, with its own name and number.
  const id = ({ path, expected, got }: ConfigurationFault) =>
    path.startsWith('sweep') ? `${path.replace(/^sweep: arm .*: /, '')} ${expected}` : `${path} ${expected} ${got}`;
  const unique = [...new Map(written.toReversed().map((fault) => [id(fault), fault])).values()].reverse();
  return unique.map((fault) => locateInFile(fault, composed));
}
