import { freezeDeeply } from '../../core/values/once.ts';

/** One golden case: its name, its inputs by name, and what an independent program computed from them. */
export interface GoldenCase {
  readonly name: string;
  readonly expected: unknown;
  readonly [input: string]: unknown;
}

/** A file of golden cases. */
export interface GoldenFile {
  readonly topic: string;
  readonly note: string;
  readonly cases: readonly GoldenCase[];
}

/** The tolerance of a value: |got - expected| <= absolute + relative |expected|. */
export interface Tolerance {
  readonly absolute: number;
  readonly relative: number;
}

/** The tolerances of the golden interface. */
export const HOST: Tolerance = freezeDeeply({ absolute: 1e-9, relative: 1e-9 });
/** The tolerance of a value that float32 tensors compute: 1e-5 absolute plus 1e-4 relative. */
export const TENSOR: Tolerance = freezeDeeply({ absolute: 1e-5, relative: 1e-4 });
/** The tolerance of a value that the reference prints with four decimals: 1e-4 absolute. */
export const PRINTED: Tolerance = freezeDeeply({ absolute: 1e-4, relative: 0 });
/** Orders, identifiers, fingerprints and signatures are equal, and so are priorities. */
export const EXACT: Tolerance = freezeDeeply({ absolute: 0, relative: 0 });

/** Our result for a case, shaped like (a part of) its `expected`, and the tolerance of that part. */
export interface Part {
  /** The part of the case, for example `weights`. */
  readonly at: string;
  readonly expected: unknown;
  readonly got: unknown;
  readonly tolerance: Tolerance;
}

/** Computes a case with the project's own code on the active backend. */
export interface Topic {
  readonly name: string;
  /** @param cases of the file: one of them may hold what several share. */
  compute(golden: GoldenCase, cases: readonly GoldenCase[]): readonly Part[] | Promise<readonly Part[]>;
}
