import type { AuditBackend, AuditMode, ReportLoss } from './backend';
import { EVENT_HEAD, printEvent, type AuditEvent } from './event';
import { legacyLine } from './legacy-format';

export const LOG_FORMATS = ['json', 'legacy'] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];

/** Where lines go. */
export interface LogOutput {
  /** Written when this returns. Throws when it could not be. */
  write(text: string): void;
  /** The same, while others go on; one call at a time. */
  writeLater(text: string): Promise<void>;
  close(): Promise<void>;
}

/** From here on gathered lines do not wait for the end of the turn. */
const MOST_GATHERED = 64 * 1024;

/**
 * Writes a line for each event. In mode `blocking` the lines of one turn of the event loop are one write at its end, which costs a
 * busy server a fraction; in mode `blocking-strict` each is written before its request goes on.
 */
export class LogBackend implements AuditBackend {
  #gathered = '';
  #events = 0;
  #flushing: NodeJS.Immediate | undefined;
  #writing: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly output: LogOutput,
    private readonly format: LogFormat,
    private readonly mode: AuditMode,
    private readonly report: ReportLoss,
  ) {}

  process(events: readonly AuditEvent[]): boolean | Promise<boolean> {
    const text = events.length === 1 ? this.#line(events[0]!) : events.map((event) => this.#line(event)).join('');
    if (this.mode === 'batch') return this.#writeLater(text, events.length);
    this.#gathered += text;
    this.#events += events.length;
    if (this.mode === 'blocking-strict' || this.#gathered.length >= MOST_GATHERED) return this.#flush();
    this.#flushing ??= setImmediate(() => this.#flush());
    return true;
  }

  async close(): Promise<void> {
    this.#flush();
    await this.#writing;
    await this.output.close();
  }

  #line(event: AuditEvent): string {
    return this.format === 'legacy' ? legacyLine(event) : `${EVENT_HEAD}${printEvent(event)}\n`;
  }

  #flush(): boolean {
    clearImmediate(this.#flushing);
    this.#flushing = undefined;
    const [text, events] = [this.#gathered, this.#events];
    if (events === 0) return true;
    this.#gathered = '';
    this.#events = 0;
    try {
      this.output.write(text);
      return true;
    } catch (error) {
      this.report('log', events, (error as Error).message);
      return false;
    }
  }

  #writeLater(text: string, events: number): Promise<boolean> {
    const written = this.#writing
      .then(() => this.output.writeLater(text))
      .then(
        () => true,
        (error: unknown) => {
          this.report('log', events, (error as Error).message);
          return false;
        },
      );
    this.#writing = written;
    return written;
  }
}
