import { ConservationViolationError, ValidationError } from '../../core/errors/errors.ts';
import { freezeDeeply } from '../../core/values/once.ts';
import type { ConservationMetrics } from './conservation-metrics.ts';

/** How far energy may be outside its range, for metrics computed in float32. */
const ENERGY_TOLERANCE = 1e-6;
/** A smaller fall of information is rounding: what a stream's figures are good for. */
const INFORMATION_TOLERANCE = 1e-9;

/** The bounds that an operation on a memory must keep. */
export interface ConservationLaws {
  /** The largest relative change of magnitude that one operation may make. */
  readonly magnitudeThreshold: number;
}

/** Those of section 4.5.2 of diomande2026ragpp. */
export const CONSERVATION_LAWS: ConservationLaws = freezeDeeply({ magnitudeThreshold: 0.05 });

/** What an operation on a memory did to its magnitude. */
export interface ConservationCheck {
  /** `|M' - M| / M`; 0 for a memory that was empty, which has nothing to conserve. */
  readonly magnitudeDrift: number;
  /** Sentences on what deserves a look and breaks no law. */
  readonly warnings: readonly string[];
}

/** `|M' - M| / M`, infinite where a magnitude comes from nothing. */
export function computeMagnitudeDrift(before: ConservationMetrics, after: ConservationMetrics): number {
  if (before.count === 0 || after.magnitude === before.magnitude) return 0;
  return Math.abs(after.magnitude - before.magnitude) / before.magnitude;
}

/**
 * Holds an operation on a memory to the laws of section 4.5.2 of diomande2026ragpp, with two corrections. Energy lies in [0, 1/2], since the definition carries
 * the factor 1/2. And that information grows with every memory is false: a heavy newcomer lowers it, and so does whatever leaves; a fall is therefore a warning.
 *
 * @throws ConservationViolationError for a magnitude that drifted by more than the threshold or an energy outside [0, 1/2] by more than 1e-6, ValidationError
 * for a threshold that is no number from 0 upwards.
 */
export function validateConservation(
  before: ConservationMetrics,
  after: ConservationMetrics,
  { magnitudeThreshold }: ConservationLaws = CONSERVATION_LAWS,
): ConservationCheck {
  if (!(magnitudeThreshold >= 0))
    throw new ValidationError(`magnitudeThreshold is negative: ${magnitudeThreshold}; pass a number from 0`, {
      magnitudeThreshold,
    });
  const drift = computeMagnitudeDrift(before, after);
  if (!(drift <= magnitudeThreshold))
    throw new ConservationViolationError(
      `magnitude went from ${before.magnitude} to ${after.magnitude}, a drift of ${drift}; check the operation, or raise magnitudeThreshold (${magnitudeThreshold})`,
      { law: 'magnitude', before, after, magnitudeDrift: drift, magnitudeThreshold },
    );
  if (!(after.energy >= -ENERGY_TOLERANCE && after.energy <= 0.5 + ENERGY_TOLERANCE))
    throw new ConservationViolationError(
      `energy is outside [0, 0.5]: ${after.energy}; check the saliences and embeddings`,
      { law: 'energy', before, after, magnitudeDrift: drift },
    );
  const fell = before.information - after.information > INFORMATION_TOLERANCE;
  return {
    magnitudeDrift: drift,
    warnings: fell ? [`information fell from ${before.information} to ${after.information} nats`] : [],
  };
}
