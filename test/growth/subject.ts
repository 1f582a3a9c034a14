/** How many of everything there are; of each size twice as many as of the one before. */
export interface Sizes {
  readonly smallest: number;
  readonly doublings: number;
}

/** Something that a client can send in any size, and all that the server does with it. */
export interface Subject {
  readonly name: string;
  /** Makes the input of a size, and answers what is then counted. */
  readonly prepare: (count: number) => () => void;
}
