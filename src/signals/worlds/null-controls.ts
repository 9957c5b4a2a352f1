import {
  type AttentionOptions,
  type RetrieverOptions,
  TRAJECTORY_DEFAULTS,
} from '../../retrieval/retriever-options.ts';
import type { ScoringOptions } from '../../retrieval/scoring-options.ts';
import { COORDINATES, type CoordinateName, DEFAULT_WEIGHTS } from '../../trajectory/coordinate-names.ts';
import { ATTENTIONS, TRAJECTORIES } from '../bank/structure-options.ts';
import { CONTROL_KINDS, type ControlKind, type ControlOptions } from './control-options.ts';

/** The coordinates that a control changes. */
const CHANGED: Readonly<Record<ControlKind, readonly CoordinateName[]>> = {
  'permuted-order': [],
  'shuffled-coordinates': COORDINATES[7],
  'random-parents': ['depth', 'siblingOrder', 'homogeneity', 'branchFactor', 'childrenCount'],
  'rewired-graph': ['depth', 'siblingOrder', 'homogeneity', 'branchFactor'],
};

/** The control where it changes the places of turns on their ring. */
export function onOrder(control: ControlOptions | null): ControlOptions | null {
  return control?.kind === 'permuted-order' ? control : null;
}

/** The control where it changes coordinates. */
export function onCoordinates(control: ControlOptions | null): ControlOptions | null {
  return control?.kind === 'permuted-order' ? null : control;
}

/** The control where it changes what a mechanism looks at. */
export function onAttention({ mechanism }: AttentionOptions, control: ControlOptions | null): ControlOptions | null {
  if (mechanism === 'unified') return control;
  return mechanism === 'tpo' ? onCoordinates(control) : onOrder(control);
}

/** Whether a control gives the pairs what other pairs have, or other places; one of other trees has the frames made from those. */
export function movesFrames({ kind }: ControlOptions): boolean {
  return kind === 'permuted-order' || kind === 'shuffled-coordinates';
}

/** The signals of a record that a mix gives a weight. */
function weighed<T>({ weights }: ScoringOptions, signals: Readonly<Record<string, T>>): T[] {
  return Object.entries(signals).flatMap(([name, signal]) => ((weights[name] ?? 0) === 0 ? [] : [signal]));
}

/** Whether places on the ring have a say. */
function looksAtOrder({ attention, propagation, scoring }: RetrieverOptions): boolean {
  if (propagation !== null) return true;
  if (scoring !== null) return weighed(scoring, ATTENTIONS).some(({ mechanism }) => mechanism !== 'tpo');
  if (attention?.mechanism !== 'unified') return attention !== null && attention.mechanism !== 'tpo';
  return attention.mix.rcp + attention.mix.ircp > 0;
}

/** The coordinates that have a say in a mix of signals. */
function mixedCoordinates(scoring: ScoringOptions): CoordinateName[] {
  const differences = Object.fromEntries(COORDINATES[7].map((name) => [`difference ${name}`, name]));
  const tpo = weighed(scoring, ATTENTIONS).some(({ mechanism }) => mechanism === 'tpo') ? [TRAJECTORY_DEFAULTS] : [];
  const distances = [...weighed(scoring, TRAJECTORIES), ...tpo];
  return [...weighed(scoring, differences), ...distances.flatMap(({ dimensions }) => [...COORDINATES[dimensions]])];
}

/** The coordinates that have a say. */
function coordinatesOf({ attention, trajectory, scoring }: RetrieverOptions): CoordinateName[] {
  if (scoring !== null) return mixedCoordinates(scoring);
  const attends = attention?.mechanism === 'tpo' || (attention?.mechanism === 'unified' && attention.mix.tpo > 0);
  if (trajectory === null && !attends) return [];
  const { dimensions, weights } = trajectory ?? TRAJECTORY_DEFAULTS;
  return COORDINATES[dimensions].filter((name) => (weights[name] ?? DEFAULT_WEIGHTS[name]) > 0);
}

/** What {@link controlsFor} looks at. */
const DECIDING = [
  'attention.mechanism',
  'attention.mix',
  'trajectory.dimensions',
  'trajectory.weights',
  'propagation',
  'scoring.weights',
] as const;

/** Whether a value at this path of an arm has a say in which controls change anything. */
export function decideControls(path: string): boolean {
  return DECIDING.some((known) => `${known}.`.startsWith(`${path}.`) || `${path}.`.startsWith(`${known}.`));
}

/** The controls that change anything of what an arm looks at. */
export function controlsFor(arm: RetrieverOptions): ControlKind[] {
  const coordinates = coordinatesOf(arm);
  return CONTROL_KINDS.filter((kind) =>
    kind === 'permuted-order' ? looksAtOrder(arm) : coordinates.some((name) => CHANGED[kind].includes(name)),
  );
}
