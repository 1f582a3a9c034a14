import { Seats, type RequestKind } from './max-in-flight';
import { RatioSamples } from './ratio-samples';

/** The reads, or the writes, of all priority levels together. */
export class KindLoad {
  /** Without a limit: counts what is executed. */
  readonly seats: Seats;
  readonly executing: RatioSamples;
  readonly waitingRatio: RatioSamples;
  #waiting = 0;
  #mostWaiting = 0;

  constructor(
    readonly kind: RequestKind,
    /** Requests that the samples are told as parts of. */
    private readonly scale: number,
  ) {
    this.seats = new Seats(kind, 0);
    this.executing = new RatioSamples({ request_kind: kind, phase: 'executing' });
    this.waitingRatio = new RatioSamples({ request_kind: kind, phase: 'waiting' });
  }

  begin(now: number): void {
    this.seats.acquire();
    this.executing.set(this.seats.taken / this.scale, now);
  }

  end(now: number): void {
    this.seats.release();
    this.executing.set(this.seats.taken / this.scale, now);
  }

  wait(change: 1 | -1, now: number): void {
    this.#waiting += change;
    if (this.#waiting > this.#mostWaiting) this.#mostWaiting = this.#waiting;
    this.waitingRatio.set(this.#waiting / this.scale, now);
  }

  /** The most that waited at once since this was last asked. */
  takeMostWaiting(): number {
    const most = this.#mostWaiting;
    this.#mostWaiting = this.#waiting;
    return most;
  }
}
