import type { Socket } from 'node:net';

/** What a connection is by what it has cost lately: 0: next to nothing; 1: something; 2: much. */
export type CostLevel = 0 | 1 | 2;

/** More is something. */
const QUIET_MS = 1;
/** More is much. */
const COSTLY_MS = 10;
/** How much of a second is free for each connection. */
const FREE_SHARE = 0.05;
/** While so many of its requests wait to begin no more of a connection is read: each takes some kilobytes. */
const MANY_WAITING = 16;

/**
 * What a connection's bytes and requests have cost the event loop lately, in milliseconds, and how many of its requests wait. While some do,
 * nothing is forgotten: hundreds of connections that bring more than can be done would all be new to a server that is behind. Times are those
 * of a monotonic clock.
 */
export class ConnectionCosts {
  /** As of {@link #countedMs}. */
  #spentMs = 0;
  #countedMs = -Infinity;
  #waiting = 0;
  /** Called when it is not behind any more. */
  onCaughtUp: (() => void) | undefined;

  /** Others, who have cost less, do not wait for it. */
  levelAt(nowMs: number): CostLevel {
    if (this.#spentMs <= QUIET_MS) return 0;
    const spentMs = this.#spentAt(nowMs);
    return spentMs <= QUIET_MS ? 0 : spentMs <= COSTLY_MS ? 1 : 2;
  }

  /** Something took `tookMs`, until `nowMs`. */
  count(tookMs: number, nowMs: number): void {
    this.#spentMs = this.#spentAt(nowMs) + tookMs;
    this.#countedMs = nowMs;
  }

  /** Requests of it have come that have not begun. */
  get hasWaiting(): boolean {
    return this.#waiting > 0;
  }

  /** They are so many that no more of it is to be read. */
  get isBehind(): boolean {
    return this.#waiting >= MANY_WAITING;
  }

  /** A request has come that has to wait for its turn, until {@link requestBegins}. */
  requestWaits(nowMs: number): void {
    if (this.#waiting === 0) this.count(0, nowMs);
    this.#waiting++;
  }

  requestBegins(nowMs: number): void {
    this.#waiting--;
    if (this.#waiting === 0) this.#countedMs = nowMs;
    if (this.#waiting === MANY_WAITING - 1) this.onCaughtUp?.();
  }

  #spentAt(nowMs: number): number {
    if (this.#spentMs === 0 || this.#waiting > 0) return this.#spentMs;
    return Math.max(0, this.#spentMs - (nowMs - this.#countedMs) * FREE_SHARE);
  }
}

const costs = new WeakMap<Socket, ConnectionCosts>();

/** Those of a connection, from its first bytes until it is gone. */
export function costsOf(socket: Socket): ConnectionCosts {
  const known = costs.get(socket);
  if (known !== undefined) return known;
  const created = new ConnectionCosts();
  costs.set(socket, created);
  return created;
}
