/** Something that a client can send in any size, and all that the server does with it. */
export interface Subject {
  readonly name: string;
  /** Makes the input of a size, and answers what is then counted. */
  readonly prepare: (count: number) => () => void;
}
