import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/**
 * A way to a server on which everything that it says takes a while: who reads over it lags behind. It can be cut, as
 * networks are: connections stay, and nothing passes.
 */
export class LaggingLink implements AsyncDisposable {
  readonly #sockets = new Set<Socket>();
  /** What waits for the link to be whole again, in order; undefined while it is. */
  #held: (() => void)[] | undefined;

  private constructor(private readonly server: Server) {}

  static async start(target: number, lagMs: number): Promise<LaggingLink> {
    const server = createServer({ noDelay: true });
    const link = new LaggingLink(server);
    server.on('connection', (near) => {
      const far = connect({ port: target, host: '127.0.0.1', noDelay: true });
      for (const socket of [near, far]) {
        link.#sockets.add(socket);
        socket.on('error', () => undefined);
        socket.on('close', () => {
          link.#sockets.delete(socket);
          near.destroy();
          far.destroy();
        });
      }
      near.on('data', (data) => link.#pass(() => far.write(data)));
      // Timers of one duration fire in the order in which they were set.
      far.on('data', (data) => setTimeout(() => link.#pass(() => near.write(data)), lagMs));
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return link;
  }

  get endpoint(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  cut(): void {
    this.#held ??= [];
  }

  /** What was sent meanwhile arrives now. */
  mend(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const pass of held) pass();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.server.close(), 'close');
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #pass(pass: () => void): void {
    if (this.#held === undefined) pass();
    else this.#held.push(pass);
  }
}
