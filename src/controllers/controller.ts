/** A running controller. `close` resolves when it has stopped. */
export interface Controller {
  readonly name: string;
  close(): Promise<void>;
}
