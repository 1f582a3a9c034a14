import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** A way to a server on which everything that it says takes a while: who reads over it lags behind. */
export class LaggingLink implements AsyncDisposable {
  readonly #sockets = new Set<Socket>();

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
      near.pipe(far);
      // Timers of one duration fire in the order in which they were set.
      far.on('data', (data) => setTimeout(() => near.write(data), lagMs));
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return link;
  }

  get endpoint(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.server.close(), 'close');
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }
}
