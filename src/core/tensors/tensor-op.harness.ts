/** Keeps a tensor, or what owns some, that an op borrows until the scenario is over. */
export type Own = <T extends { dispose(): void }>(borrowed: T) => T;

/** Makes its inputs with `own`, runs an op, and returns the op's results: tensors, arrays and numbers, alone or in objects. */
export type Scenario = (own: Own) => unknown;

export type Edge = 'zero vectors' | 'duplicates' | 'one turn' | 'all masked' | 'K > C';

/** The cases of a public op that can reach a tensor. */
export interface TensorOp {
  /** An ordinary use. */
  readonly use: Scenario;
  /** Invalid inputs, and the error of each. */
  readonly refuses: readonly (readonly [Scenario, RegExp])[];
  /** True if the op reports a failure of the device instead of throwing it. */
  readonly catches?: boolean;
  /** Odd inputs that it may meet, and all numbers that it must make of them. */
  readonly edges?: Readonly<Partial<Record<Edge, readonly [Scenario, readonly number[]]>>>;
}

/** For a slow op: the test that asserts the same of it. */
interface ProvedElsewhere {
  readonly provedIn: string;
}

/** By the name of the export. */
export type TensorOps = Readonly<Record<string, TensorOp | ProvedElsewhere>>;
