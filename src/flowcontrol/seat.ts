/** The place of a request among those under way. */
export interface Seat {
  /** It waits for its client: its place is for others. */
  pause(): void;
  /** It works again. False: there is no place for it. */
  resume(): boolean | Promise<boolean>;
  /** It has ended. */
  release(): void;
  /** It has ended while it was paused. */
  abandon(): void;
  /** It was turned away. */
  drop(): void;
}
