import { setTimeout as delay } from 'node:timers/promises';
import { openChannelEndpoint, type Endpoint, type OpenEndpoint, type WatchStream } from './endpoint';
import { EtcdError, toEtcdError } from './etcd-error';
import { DEFAULT_KEEPALIVE, type Keepalive, type TlsSource } from './grpc-channel';
import { status, type Method, type ServerStatus, type WatchCreation } from './messages';
import { StoreClosedError, type Cancellation } from '../store';

export interface EtcdClientOptions {
  /** Such as `https://10.0.0.1:2379`. */
  readonly endpoints: readonly string[];
  readonly tls?: TlsSource;
  /** For every single call. */
  readonly requestTimeoutMs: number;
  /** Our own by default. */
  readonly openEndpoint?: OpenEndpoint;
}

export interface CallOptions {
  /** True for calls that may be sent again though an earlier attempt may have had its effect. */
  readonly isRepeatable: boolean;
  readonly signal?: Cancellation | undefined;
  readonly maxAttempts?: number;
}

export interface OpenedWatch {
  readonly stream: WatchStream;
  readonly endpoint: string;
}

const MAX_ATTEMPTS = 6;
/** Where there are other servers, one that hangs is left soon: its watches look like watches that have nothing to say. */
const KEEPALIVE_AMONG_OTHERS: Keepalive = { intervalMs: 6_000, timeoutMs: 2_000 };
/** A server that is silent for so long may hang. Where there is another one, it is asked too. */
const PATIENCE_MS = 1_000;
const FIRST_PAUSE_MS = 25;
const LEARNING_PAUSE_MS = 30_000;

/** Calls one of several etcd servers: the same one as long as it serves, and the next one when it does not. */
export class EtcdClient {
  readonly #endpoints: readonly Endpoint[];
  #current = 0;
  #closed = false;
  /** Versions of the servers that have answered, by address. */
  readonly #versions = new Map<string, string>();
  #nextLearning = 0;

  constructor(private readonly options: EtcdClientOptions) {
    if (options.endpoints.length === 0) throw new RangeError('etcd needs at least one endpoint');
    const keepalive = options.endpoints.length > 1 ? KEEPALIVE_AMONG_OTHERS : DEFAULT_KEEPALIVE;
    const open = options.openEndpoint ?? openChannelEndpoint;
    this.#endpoints = options.endpoints.map((address) => open(address, options.tls, keepalive));
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  /** The servers' versions as far as they are known; undefined when one of them has not answered yet. */
  get versions(): readonly string[] | undefined {
    return this.#versions.size === this.#endpoints.length ? [...this.#versions.values()] : undefined;
  }

  /** Rejects with an {@link EtcdError}, a StoreClosedError, or the signal's reason. */
  async call<Request, Response>(
    method: Method<Request, Response>,
    request: Request,
    { isRepeatable, signal, maxAttempts = MAX_ATTEMPTS }: CallOptions,
  ): Promise<Response> {
    const others = this.#endpoints.length - 1;
    for (let attempt = 1; ; attempt++) {
      signal?.throwIfAborted();
      if (this.#closed) throw new StoreClosedError();
      try {
        return await (others === 0
          ? this.#send(this.#endpoints[0]!, method, request, signal)
          : this.#ask(method, request, { isRepeatable, signal }, this.#current, others));
      } catch (failure) {
        const mayRepeat = failure instanceof EtcdError && (isRepeatable || failure.isUnsent);
        if (!mayRepeat || !failure.isTransient || attempt >= maxAttempts) throw failure;
        // Every server once at once, then with growing pauses.
        if (attempt >= this.#endpoints.length) await pause(FIRST_PAUSE_MS * 2 ** (attempt - 1), signal);
      }
    }
  }

  /** Throws what {@link call} rejects with. */
  openWatch(creation: WatchCreation): OpenedWatch {
    if (this.#closed) throw new StoreClosedError();
    const endpoint = this.#endpoints[this.#current]!;
    try {
      return { stream: endpoint.openWatch(creation), endpoint: endpoint.address };
    } catch (error) {
      throw this.#toFailure(error, endpoint, undefined);
    }
  }

  /** Tells that a stream failed, so that the next one goes elsewhere. Returns the error to report. */
  streamFailed(error: unknown, address: string): Error {
    return this.#toFailure(
      error,
      this.#endpoints.find((endpoint) => endpoint.address === address)!,
      undefined,
    );
  }

  /** Asks all servers whose version is not known, until the first answers. Rejects when none of them ever has. */
  async learnVersions(): Promise<void> {
    const unknown = this.#endpoints.filter(({ address }) => !this.#versions.has(address));
    const asked = unknown.map(async (endpoint) => {
      try {
        const { version } = await endpoint.call(status, undefined, this.options.requestTimeoutMs, undefined);
        // A server that hangs would hold up the first calls as it holds up its answer.
        if (this.#versions.size === 0) this.#current = this.#endpoints.indexOf(endpoint);
        this.#versions.set(endpoint.address, version);
      } catch (error) {
        throw toEtcdError(error, endpoint.address);
      }
    });
    try {
      await Promise.any(asked);
    } catch (error) {
      if (this.#versions.size === 0) throw (error as AggregateError).errors[0];
    }
  }

  /** How each server is that answers. Rejects when none does. */
  async statuses(signal: Cancellation | undefined): Promise<readonly (ServerStatus & { readonly address: string })[]> {
    if (this.#closed) throw new StoreClosedError();
    const responses = await Promise.allSettled(
      this.#endpoints.map(async (endpoint) => ({
        ...(await endpoint.call(status, undefined, this.options.requestTimeoutMs, signal)),
        address: endpoint.address,
      })),
    );
    const statuses = responses.flatMap((response) => (response.status === 'fulfilled' ? [response.value] : []));
    const [first] = responses;
    if (statuses.length === 0 && first?.status === 'rejected') {
      signal?.throwIfAborted();
      throw toEtcdError(first.reason, this.#endpoints[0]!.address);
    }
    return statuses;
  }

  /** Asks again, now and then, servers that did not answer before. Never rejects. */
  async learnMissingVersions(): Promise<void> {
    if (this.versions !== undefined || performance.now() < this.#nextLearning) return;
    this.#nextLearning = performance.now() + LEARNING_PAUSE_MS;
    await this.learnVersions().catch(() => undefined);
  }

  close(): void {
    this.#closed = true;
    for (const endpoint of this.#endpoints) endpoint.close();
  }

  /**
   * One attempt. When the server is silent it is checked for life; and a call that may be sent again is sent to the next
   * server too, of which there are `others`: the first answer counts, and later calls go where it came from.
   */
  async #ask<Request, Response>(
    method: Method<Request, Response>,
    request: Request,
    options: CallOptions,
    position: number,
    others: number,
  ): Promise<Response> {
    const endpoint = this.#endpoints[position]!;
    const answer = this.#send(endpoint, method, request, options.signal);
    if (others === 0 || (await settlesWithin(answer, PATIENCE_MS))) return answer;
    endpoint.checkAlive();
    if (!options.isRepeatable) return answer;
    const next = (position + 1) % this.#endpoints.length;
    const another = this.#ask(method, request, options, next, others - 1);
    try {
      const { response, from } = await Promise.any([
        answer.then((response) => ({ response, from: position })),
        another.then((response) => ({ response, from: next })),
      ]);
      if (from !== position && this.#current === position) this.#current = from;
      return response;
    } catch (error) {
      throw (error as AggregateError).errors[0];
    }
  }

  async #send<Request, Response>(
    endpoint: Endpoint,
    method: Method<Request, Response>,
    request: Request,
    signal: Cancellation | undefined,
  ): Promise<Response> {
    try {
      return await endpoint.call(method, request, this.options.requestTimeoutMs, signal);
    } catch (error) {
      throw this.#toFailure(error, endpoint, signal);
    }
  }

  #toFailure(error: unknown, endpoint: Endpoint, signal: Cancellation | undefined): Error {
    if (signal?.aborted) return signal.reason as Error;
    if (this.#closed) return new StoreClosedError();
    const failure = toEtcdError(error, endpoint.address);
    const isCurrent = this.#endpoints[this.#current] === endpoint;
    if (isCurrent && (failure.isTransient || failure.problem === 'timeout')) {
      this.#current = (this.#current + 1) % this.#endpoints.length;
    }
    return failure;
  }
}

/** Resolves early, and quietly, when a signal aborts. */
export async function pause(ms: number, signal: Cancellation | undefined): Promise<void> {
  await delay(ms, undefined, signal instanceof AbortSignal ? { signal } : undefined).catch(() => undefined);
}

/** False after `ms`, when the promise is still pending. */
function settlesWithin(promise: Promise<unknown>, ms: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), ms);
    const settled = (): void => {
      clearTimeout(timer);
      resolve(true);
    };
    promise.then(settled, settled);
  });
}
