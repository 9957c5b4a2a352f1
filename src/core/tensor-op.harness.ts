import type * as tf from '@tensorflow/tfjs-core';

/** Keeps a tensor that an op borrows until the scenario is over. */
export type Own = <T extends tf.Tensor>(tensor: T) => T;

/** Makes its inputs with `own`, runs an op, and hands back what the op made: tensors, arrays and numbers, alone or in objects. */
export type Scenario = (own: Own) => unknown;

export type Edge = 'zero vectors' | 'duplicates' | 'one turn' | 'all masked' | 'K > C';

/** What every public op that can reach a tensor has to stand. */
export interface TensorOp {
  /** An ordinary use. */
  readonly use: Scenario;
  /** What it refuses, and why. */
  readonly refuses: readonly (readonly [Scenario, RegExp])[];
  /** Whether a failure of the device is part of what it reports instead of being thrown. */
  readonly catches?: boolean;
  /** Odd inputs that it may meet, and all numbers that it must make of them. */
  readonly edges?: Readonly<Partial<Record<Edge, readonly [Scenario, readonly number[]]>>>;
}

/** An op that needs more than a moment: the test that asserts the same of it. */
export interface ProvedElsewhere {
  readonly provedIn: string;
}

/** By the name of the export. */
export type TensorOps = Readonly<Record<string, TensorOp | ProvedElsewhere>>;
