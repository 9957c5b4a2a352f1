/** Where the first turns of a conversation stand when it is not time that orders them. */
export interface TurnPlaces {
  /** [size] the place of each turn, turns in time order. */
  readonly placeOf: Int32Array;
  /** [size] the turn at each place: the inverse. */
  readonly turnAt: Int32Array;
}

/** An order of a conversation's turns as of the moment when there were `size` of them. Later turns must have no say in it. */
export type TurnOrder = (conversation: number, size: number) => TurnPlaces;
