import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** Small enough to cut through every frame of HTTP/2 and TLS. */
const TRICKLE_BYTES = 97;
const TRICKLE_PAUSE_MS = 1;

/**
 * A way to a server on this machine that has the faults of networks: what the server says can take a while, everything can
 * arrive in small pieces, nothing can pass though connections stay, connections can break, or end in one direction.
 */
export class FaultyLink implements AsyncDisposable {
  /** How long everything that the server says is under way. */
  lagMs: number;
  /** Whether everything arrives bit by bit. */
  trickles = false;
  readonly #connections = new Set<readonly [near: Socket, far: Socket]>();
  /** Pending while the link is cut. */
  #whole = Promise.resolve();
  #heal: () => void = () => undefined;

  private constructor(
    private readonly server: Server,
    private readonly target: number,
    lagMs: number,
  ) {
    this.lagMs = lagMs;
  }

  static async start(target: number, lagMs = 0): Promise<FaultyLink> {
    const server = createServer({ noDelay: true, allowHalfOpen: true });
    const link = new FaultyLink(server, target, lagMs);
    server.on('connection', (near) => link.#serve(near));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return link;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get endpoint(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Nothing passes any more, and nobody is told. */
  cut(): void {
    this.mend();
    this.#whole = new Promise((resolve) => (this.#heal = resolve));
  }

  /** What was sent meanwhile arrives now. */
  mend(): void {
    this.#heal();
  }

  /** Breaks every connection. */
  break(): void {
    for (const sockets of this.#connections) for (const socket of sockets) socket.resetAndDestroy();
  }

  /** On every connection the server hears that the client has no more to say, though it may go on listening. */
  endRequests(): void {
    for (const [, far] of this.#connections) far.end();
  }

  /** On every connection the client hears that the server has no more to say, though it may go on listening. */
  endResponses(): void {
    for (const [near] of this.#connections) near.end();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.mend();
    const closed = once(this.server.close(), 'close');
    for (const sockets of this.#connections) for (const socket of sockets) socket.destroy();
    await closed;
  }

  #serve(near: Socket): void {
    const far = connect({ port: this.target, host: '127.0.0.1', noDelay: true, allowHalfOpen: true });
    const connection = [near, far] as const;
    this.#connections.add(connection);
    for (const socket of connection) {
      socket.on('error', () => undefined);
      socket.on('close', () => {
        this.#connections.delete(connection);
        near.destroy();
        far.destroy();
      });
    }
    this.#carry(near, far, () => 0);
    this.#carry(far, near, () => this.lagMs);
  }

  /** One direction: everything in its order, each piece no earlier than so long after it came. */
  #carry(from: Socket, to: Socket, lagMs: () => number): void {
    let before = Promise.resolve();
    const next = (pass: () => Promise<void> | void): void => {
      const due = performance.now() + lagMs();
      before = before.then(async () => {
        const wait = due - performance.now();
        if (wait > 0) await delay(wait, undefined, { ref: false });
        await this.#whole;
        await pass();
      });
    };
    from.on('data', (data: Buffer) => next(() => this.#write(to, data)));
    from.on('end', () => next(() => void to.end()));
  }

  async #write(to: Socket, data: Buffer): Promise<void> {
    if (!this.trickles) {
      if (to.writable) to.write(data);
      return;
    }
    for (let at = 0; at < data.length && to.writable; at += TRICKLE_BYTES) {
      to.write(data.subarray(at, at + TRICKLE_BYTES));
      await delay(TRICKLE_PAUSE_MS);
    }
  }
}
