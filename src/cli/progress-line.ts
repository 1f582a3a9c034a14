const BAR_WIDTH = 30;
const REDRAW_MS = 100;
/** Where lines cannot be drawn over, as in a log file, one for so many percent. */
const PERCENT_PER_LINE = 10;

export interface ProgressOutput {
  readonly isTTY?: boolean | undefined;
  write(text: string): unknown;
}

/** `[==========          ] 1,200/3,600 keys (33%)`, drawn over itself on a terminal. */
export function printProgress(done: number, total: number, unit: string): string {
  const share = total === 0 ? 1 : Math.min(done / total, 1);
  const bar = '='.repeat(Math.round(share * BAR_WIDTH)).padEnd(BAR_WIDTH);
  const number = (value: number): string => value.toLocaleString('en-US');
  return `[${bar}] ${number(done)}/${number(total)} ${unit} (${Math.floor(share * 100)}%)`;
}

/** Shows how far something is, without flooding the output. */
export class ProgressLine {
  #shownAtMs = -Infinity;
  #shownPercent = -PERCENT_PER_LINE;
  #latest: string | undefined;

  constructor(
    private readonly output: ProgressOutput,
    private readonly unit: string,
  ) {}

  show(done: number, total: number): void {
    if (this.output.isTTY === true) {
      this.#latest = printProgress(done, total, this.unit);
      if (performance.now() - this.#shownAtMs < REDRAW_MS) return;
      this.#shownAtMs = performance.now();
      this.output.write(`\r${this.#latest}`);
      return;
    }
    const percent = Math.floor((100 * done) / Math.max(total, 1));
    if (percent < this.#shownPercent + PERCENT_PER_LINE && percent >= this.#shownPercent) return;
    this.#shownPercent = percent - (percent % PERCENT_PER_LINE);
    this.output.write(`${printProgress(done, total, this.unit)}\n`);
  }

  /** Shows the last state, once. */
  end(): void {
    if (this.#latest !== undefined) this.output.write(`\r${this.#latest}\n`);
    this.#latest = undefined;
  }
}
