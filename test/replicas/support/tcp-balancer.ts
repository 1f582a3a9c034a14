import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

export interface Backend {
  readonly port: number;
  readonly isReady: () => Promise<boolean>;
}

const PROBE_INTERVAL_MS = 100;

/**
 * A balancer that knows nothing of HTTP: each connection goes to the next backend that takes it. With `probes` only those
 * whose readiness check passed last are asked.
 */
export class TcpBalancer implements AsyncDisposable {
  /** Connections that no backend took. */
  refused = 0;
  #next = 0;
  readonly #ready = new Set<Backend>();
  readonly #sockets = new Set<Socket>();
  #timer: NodeJS.Timeout | undefined;

  private constructor(
    private readonly server: Server,
    private readonly backends: readonly Backend[],
    private readonly probes: boolean,
  ) {
    server.on('connection', (client) => this.serve(client));
  }

  static async start(backends: readonly Backend[], options: { readonly probes?: boolean } = {}): Promise<TcpBalancer> {
    const balancer = new TcpBalancer(createServer({ noDelay: true }), backends, options.probes ?? false);
    balancer.server.listen(0, '127.0.0.1');
    await once(balancer.server, 'listening');
    if (balancer.probes) await balancer.probe();
    return balancer;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const closed = once(this.server.close(), 'close');
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  private async probe(): Promise<void> {
    await Promise.all(
      this.backends.map(async (backend) => {
        if (await backend.isReady()) this.#ready.add(backend);
        else this.#ready.delete(backend);
      }),
    );
    if (this.server.listening) this.#timer = setTimeout(() => void this.probe(), PROBE_INTERVAL_MS);
  }

  private serve(client: Socket): void {
    this.track(client);
    const candidates = this.backends.filter((backend) => !this.probes || this.#ready.has(backend));
    const first = this.#next++;
    const order = candidates.map((_, i) => candidates[(first + i) % candidates.length]!);
    this.attach(client, order);
  }

  private attach(client: Socket, [backend, ...others]: readonly Backend[]): void {
    if (backend === undefined) {
      this.refused++;
      client.destroy();
      return;
    }
    const upstream = connect({ port: backend.port, host: '127.0.0.1', noDelay: true });
    this.track(upstream);
    let connected = false;
    upstream.on('connect', () => {
      connected = true;
      client.pipe(upstream).pipe(client);
    });
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => {
      if (connected) client.destroy();
      else if (!client.destroyed) this.attach(client, others);
    });
  }

  private track(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => this.#sockets.delete(socket));
  }
}
