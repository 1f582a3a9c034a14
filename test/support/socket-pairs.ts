import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** Connections of which a test has both ends. */
export class SocketPairs {
  readonly #open: Socket[] = [];

  private constructor(private readonly listener: Server) {}

  static async listen(): Promise<SocketPairs> {
    const listener = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1');
    await once(listener, 'listening');
    return new SocketPairs(listener);
  }

  async pair(): Promise<readonly [Socket, Socket]> {
    const { port } = this.listener.address() as AddressInfo;
    const far = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    const [near] = (await once(this.listener, 'connection')) as [Socket];
    for (const socket of [far, near]) this.keep(socket.on('error', () => undefined));
    return [far, near];
  }

  /** Destroyed when the test ends. */
  keep(socket: Socket): void {
    this.#open.push(socket);
  }

  async close(): Promise<void> {
    for (const socket of this.#open) socket.destroy();
    await new Promise((resolve) => this.listener.close(resolve));
  }
}
