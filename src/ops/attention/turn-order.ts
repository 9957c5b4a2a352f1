/** The positions of a conversation's first turns in an order other than time. */
export interface TurnRingPositions {
  /** [size] the place of each turn, turns in time order. */
  readonly ringPositionOf: Int32Array;
  /** [size] the turn at each place: the inverse. */
  readonly turnAt: Int32Array;
}

/** An order of a conversation's turns at the time when it had `size` turns. Later turns must not affect the order. */
export type TurnOrder = (conversation: number, size: number) => TurnRingPositions;
