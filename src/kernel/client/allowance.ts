import { NotFiniteError, ValidationError } from '../../core/errors/errors.ts';
import { AdmissibilityError } from '../signatures/admissibility-error.ts';
import type { AllowedTurns, ScopedTurn } from '../slices/slice-search.ts';
import type { VerifiedSlice } from './asked-slice.ts';

/** The signed slice that makes a turn admissible. */
export interface SliceProvenance {
  readonly level: 'first' | 'refined';
  readonly fingerprint: string;
}

/** The turns that a query may see, with the slice that lists each. It stays in the client: what searches gets copies. */
export class Allowance {
  readonly #slices: readonly VerifiedSlice[];
  readonly #levelOf = new Map<string, number>();

  constructor(slices: readonly VerifiedSlice[]) {
    this.#slices = slices;
    for (const [level, { slice }] of slices.entries())
      for (const id of slice.turnIds) if (!this.#levelOf.has(id)) this.#levelOf.set(id, level);
  }

  copy(): AllowedTurns {
    const positions = new Set(this.#slices.flatMap((slice) => [...slice.positions]));
    return {
      positions: Int32Array.from(positions).sort(),
      turnIds: new Set(this.#levelOf.keys()),
      cutoff: Math.max(...this.#slices.map(({ cutoff }) => cutoff)),
    };
  }

  /** @returns copies. @throws AdmissibilityError for a turn that is in no slice. */
  check(part: string, turns: readonly ScopedTurn[]): ScopedTurn[] {
    const seen = new Set<string>();
    return turns.map(({ turnId, score }) => {
      if (!this.#levelOf.has(turnId))
        throw new AdmissibilityError(
          'bypassed',
          `${part} returned a turn outside the slice: ${turnId}; no result is given, let it return allowed turns only`,
          { turnId, part },
        );
      if (!Number.isFinite(score)) throw new NotFiniteError(`score of the ${part}`, `turn ${turnId}`, score);
      if (seen.has(turnId))
        throw new ValidationError(`${part} returned a turn twice: ${turnId}; let it return each once`, { turnId });
      seen.add(turnId);
      return { turnId, score };
    });
  }

  findProvenance(turnId: string): SliceProvenance {
    const level = this.#levelOf.get(turnId) as number;
    const { slice } = this.#slices[level] as VerifiedSlice;
    return { level: level === 0 ? 'first' : 'refined', fingerprint: slice.fingerprint };
  }
}
