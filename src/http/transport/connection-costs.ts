import type { Socket } from 'node:net';

/** Who has cost more than this lately is costly. */
const COSTLY_MS = 10;
/** How much of a second is free for each connection. */
const FREE_SHARE = 0.05;

/** What a connection's bytes and requests have cost the event loop lately, in milliseconds. Times are those of a monotonic clock. */
export class ConnectionCosts {
  /** As of {@link #countedMs}. */
  #spentMs = 0;
  #countedMs = -Infinity;

  /** Others, who have cost little, do not wait for it. */
  isCostly(nowMs: number): boolean {
    return this.#spentMs > COSTLY_MS && this.#spentAt(nowMs) > COSTLY_MS;
  }

  /** Something took `tookMs`, until `nowMs`. */
  count(tookMs: number, nowMs: number): void {
    this.#spentMs = this.#spentAt(nowMs) + tookMs;
    this.#countedMs = nowMs;
  }

  #spentAt(nowMs: number): number {
    return this.#spentMs === 0 ? 0 : Math.max(0, this.#spentMs - (nowMs - this.#countedMs) * FREE_SHARE);
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
