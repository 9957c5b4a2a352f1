import { isDeepStrictEqual } from 'node:util';
import { getValueAt, parse } from '../../core/validation/validation.ts';
import { type Plain, parsePath, setPath } from '../composition/config-file.ts';
import { type ArmOptions, armOptions } from './arm-options.ts';

/** The arm with tuned values set, unchecked; null if a path does not exist. */
export function applyTunedPoint(arm: ArmOptions, point: Plain): Plain | null {
  const tried: Plain = structuredClone(arm);
  return Object.entries(point).every(([path, value]) => setPath(tried, parsePath(path, tried), value)) ? tried : null;
}

/** An arm with values of a tuning grid in place, which `resolveConfig` has already checked. */
export function withTuned(arm: ArmOptions, point: Plain): ArmOptions {
  return parse(armOptions, applyTunedPoint(arm, point), `arm ${arm.name} with tuned values`);
}

/** The tuned values of the arm that this arm extends, as far as this arm reuses them. */
export function inheritTunedPoint(arm: ArmOptions, parent: ArmOptions, tuned: Plain): Plain {
  const isOwn = (path: string) =>
    arm.differences.some((own) => `${own}.`.startsWith(`${path}.`) || `${path}.`.startsWith(`${own}.`));
  const kept = Object.entries(tuned).filter(([path]) => {
    const keys = parsePath(path, arm);
    return !(path in arm.tune) && !isOwn(path) && isDeepStrictEqual(getValueAt(arm, keys), getValueAt(parent, keys));
  });
  return Object.fromEntries(kept);
}
