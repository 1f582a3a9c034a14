import { PacedStarts } from '../../async/paced-starts';
import { costsOf, type ConnectionCosts } from './connection-costs';
import type { HttpRequest } from './exchange';
import { levelOf, StartsByCost, type SharedLoop } from './starts-by-cost';

/** What the beginning of a small request takes, in milliseconds. */
const WAITING_REQUEST_MS = 0.2;

/**
 * Where requests begin: those of connections that have cost much lately after others. Probes of connections that have cost next to nothing
 * wait for their like only: with hundreds of connections that have just come it would be one of hundreds, and who looks after the server must
 * not take it for dead because it has much to do.
 */
export class RequestStarts {
  readonly #byCost: StartsByCost;
  readonly #probes: PacedStarts;

  constructor(
    loop: SharedLoop,
    private readonly isProbe: (url: string) => boolean,
  ) {
    this.#byCost = new StartsByCost(loop);
    this.#probes = new PacedStarts({ turns: loop.turns, rank: 0 });
  }

  /** Begins a request that has come at `nowMs`, at once or in a later turn of the loop. `begin` is told when. */
  begin(
    { socket, url = '' }: Pick<HttpRequest, 'socket' | 'url'>,
    nowMs: number,
    begin: (nowMs: number) => void,
  ): void {
    const costs = costsOf(socket);
    const queue = this.#queueFor(costs, nowMs, url);
    // What it costs counts with the bytes that brought it.
    if (queue.mayBegin(nowMs)) return begin(nowMs);
    // Until it has begun it counts as one of small cost: of hundreds that one connection has brought, most come after other connections.
    costs.count(WAITING_REQUEST_MS, nowMs);
    costs.requestWaits(nowMs);
    queue.wait(socket, () => {
      const beganMs = performance.now();
      costs.requestBegins(beganMs);
      begin(beganMs);
      const doneMs = performance.now();
      costs.count(Math.max(0, doneMs - beganMs - WAITING_REQUEST_MS), doneMs);
    });
  }

  #queueFor(costs: ConnectionCosts, nowMs: number, url: string): PacedStarts {
    if (this.isProbe(url) && levelOf(costs, nowMs, url.length) === 0) return this.#probes;
    return this.#byCost.of(costs, nowMs, url.length);
  }
}
