import type { ConfigurationFault } from '../../core/errors/errors.ts';
import { check } from '../../core/validation/validation.ts';
import { listControlsOfArm, readArm } from '../../rank/retrieval/written-steps.ts';
import { CONTROL_KINDS, type ControlKind } from '../../rank/signals/worlds/world-parts.ts';
import { listCombinations } from '../composition/arms.ts';
import type { Plain } from '../composition/config-file.ts';
import { applyTunedPoint, describeControl, inheritTunedPoint, listArmsToRun } from './arm-selection.ts';
import { type ArmOptions, armOptions, type ControlsOptions, type ExperimentConfig } from './config-schema.ts';

const DESTROYS: Readonly<Record<ControlKind, string>> = {
  'permuted-order': 'the turns of each conversation are in a random order on its ring',
  'shuffled-coordinates': "each query's candidates exchange their coordinates at random",
  'random-parents': 'each turn answers any earlier one of its conversation',
  'rewired-graph': 'each turn has as many children as it has, but others',
  'random-graph': 'the edges of the concept graph exchange their ends at random, those of each kind',
  'random-slices': 'each query sees as many turns as its slice has, drawn at random from the earlier ones',
  'newest-slices': 'each query sees as many turns as its slice has, the newest ones',
  'shuffled-strategies': 'the questions exchange their strategies at random',
  placebo: 'as many tokens as the arm shows, of unrelated turns',
  'shuffled-titles': 'the turns exchange their titles at random, for what names them in the concept graph',
};

function buildControlArm(arm: ArmOptions, kind: ControlKind): ArmOptions {
  return {
    ...arm,
    name: `${arm.name} | ${kind === 'placebo' ? kind : `control: ${kind}`}`,
    description: DESTROYS[kind],
    extends: arm.name,
    tune: {}, // so that it reuses the tuned values of its arm
    levels: null,
    differences: ['control'],
    control: { kind, seed: null },
  };
}

type ArmsByName = ReadonlyMap<string, ArmOptions>;

const listControlsFor = (arm: ArmOptions) => listControlsOfArm(readArm(arm));

/** True if a value that tuning may set at a path affects which controls change anything. */
function decidesControls(arm: ArmOptions, path: string): boolean {
  const kinds = (arm.tune[path] ?? []).map((value) => {
    const tried = check(armOptions, applyTunedPoint(arm, { [path]: value }));
    return 'faults' in tried ? '' : listControlsFor(tried.value).join();
  });
  return kinds.some((listed) => listed !== listControlsFor(arm).join());
}

/** The points that tuning may choose for an arm, as `ArmTuning` comes to them, of the paths that decide which controls change anything. */
function listTunedPoints(arm: ArmOptions, arms: ArmsByName): Plain[] {
  const parent = arm.extends === undefined ? undefined : arms.get(arm.extends);
  const inherited =
    parent === undefined ? [] : listTunedPoints(parent, arms).map((point) => inheritTunedPoint(arm, parent, point));
  const starts = new Map(inherited.map((point) => [JSON.stringify(point), point]));
  const own = listCombinations(
    Object.fromEntries(Object.entries(arm.tune).filter(([path]) => decidesControls(arm, path))),
  );
  return (starts.size === 0 ? [{}] : [...starts.values()]).flatMap((start) =>
    own.map((point) => ({ ...start, ...point })),
  );
}

/** The controls that affect an arm at any point of its tuning grid; a point with invalid options has none. */
function listEffectiveControls(arm: ArmOptions, arms: ArmsByName): ControlKind[] {
  const found = listTunedPoints(arm, arms).flatMap((point) => {
    if (Object.keys(point).length === 0) return listControlsFor(arm);
    const tried = check(armOptions, applyTunedPoint(arm, point));
    return 'faults' in tried ? [] : listControlsFor(tried.value);
  });
  return CONTROL_KINDS.filter((kind) => found.includes(kind));
}

/**
 * Adds the null controls that change anything of an arm, at any point of its tuning, for every arm that is run; the values that are tuned
 * for an arm hold for its controls. A control that is written out already is not made again.
 */
export function withControls(config: ExperimentConfig, wanted: Exclude<ControlsOptions, false>): ExperimentConfig {
  const kinds: readonly ControlKind[] = Array.isArray(wanted) ? wanted : CONTROL_KINDS;
  const byName = new Map(config.arms.map((arm) => [arm.name, arm]));
  return addControls(config, (arm) => listEffectiveControls(arm, byName).filter((kind) => kinds.includes(kind)));
}

/** Adds controls of every arm that is run, but for those that are written out. */
function addControls(config: ExperimentConfig, listKinds: (arm: ArmOptions) => ControlKind[]): ExperimentConfig {
  const written = new Set(config.arms.map((arm) => JSON.stringify(describeControl(arm))));
  const isThere = (of: string, kind: ControlKind) => written.has(JSON.stringify({ of, kind }));
  const controls = listArmsToRun(config)
    .filter(({ control }) => control === null)
    .flatMap((arm) => {
      const kinds = listKinds(arm).filter((kind) => !isThere(arm.name, kind));
      return kinds.map((kind) => buildControlArm(arm, kind));
    });
  const only = config.only === null ? null : [...config.only, ...controls.map(({ name }) => name)];
  return { ...config, arms: [...config.arms, ...controls], only };
}

/** True for an arm that ends in a budget of tokens. */
const packs = (arm: ArmOptions) => arm.steps.some((name) => arm[name] !== null && (arm.as?.[name] ?? name) === 'pack');

/** True if the figures of all arms are of what is shown. */
const measuresContexts = ({ tokenBudgets, attributionTokens, metrics }: ExperimentConfig['evaluation']) =>
  tokenBudgets !== undefined || attributionTokens !== undefined || metrics.some((metric) => /@\d+t$/.test(metric));

/** Adds placebos of the arms that show a context: of all with a measure of tokens, else of those with a step `pack`. */
export function withPlacebos(config: ExperimentConfig): ExperimentConfig {
  const isShown = (arm: ArmOptions) => measuresContexts(config.evaluation) || packs(arm);
  return addControls(config, (arm) => (isShown(arm) ? ['placebo'] : []));
}

/** The fault of an experiment that asks for placebos and shows nothing. */
export function findPlaceboFaults({ arms }: ExperimentConfig): ConfigurationFault[] {
  if (arms.some(({ control }) => control?.kind === 'placebo')) return [];
  const expected = 'false, or evaluation.tokenBudgets, a metric with a budget of tokens, or an arm with a step pack';
  return [{ path: 'placebo', expected, got: 'true, where no arm shows a context' }];
}
