import { tooLarge } from './errors/status-error';

/**
 * What one request may cost where it can ask for more than it is long: for copies of what it names again and again, for values
 * that the server fills in. Throws a 413 when it is spent.
 */
export class WorkBudget {
  constructor(
    private left: number,
    /** What there is too much of, for the message. */
    private readonly problem: string,
  ) {}

  spend(count: number): void {
    this.left -= count;
    if (this.left < 0) throw tooLarge(`Request entity too large: ${this.problem}`);
  }
}
