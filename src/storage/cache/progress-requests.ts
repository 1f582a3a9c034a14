/** The first request goes out soon, since a store whose events are on their way will have sent them by then. */
const FIRST_AFTER_MS = 10;

/** KEP-2340 asks ten times a second while a read waits. */
const INTERVAL_MS = 100;

/** Asks the store's watches how far they are, as long as a read needs to know. */
export class ProgressRequests {
  private needed = 0;
  private timer: NodeJS.Timeout | undefined;

  /** `request` reports its own failures. */
  constructor(private readonly request: () => Promise<void>) {}

  /** Call what is returned, once, when it is no longer needed. */
  need(): () => void {
    this.needed++;
    if (this.needed === 1) this.schedule(FIRST_AFTER_MS);
    return () => {
      this.needed--;
      if (this.needed > 0) return;
      clearTimeout(this.timer);
      this.timer = undefined;
    };
  }

  private schedule(delayMs: number): void {
    this.timer = setTimeout(() => {
      this.schedule(INTERVAL_MS);
      void this.request();
    }, delayMs);
  }
}
