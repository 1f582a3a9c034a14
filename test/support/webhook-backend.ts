import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { JsonObject } from '../../src/api/object';
import { authority, servingKeys } from './serving-keys';

/** What a webhook is asked, as far as tests look at it. */
export interface SentReview {
  readonly apiVersion: string;
  readonly kind: string;
  readonly request: {
    readonly uid: string;
    readonly operation: string;
    readonly object: JsonObject | null;
    readonly oldObject: JsonObject | null;
    readonly [field: string]: unknown;
  };
}

/** A request as it came to a backend. */
export interface ReceivedCall {
  /** With its query. */
  readonly url: string;
  readonly review: SentReview;
  readonly headers: IncomingMessage['headers'];
  /** The client's side of the connection: calls that share it have the same. */
  readonly port: number | undefined;
}

/** The response of a webhook to a review, or what it does instead of answering. */
export type Behaviour = object | ((call: ReceivedCall, response: ServerResponse) => void);

/** An admission webhook on loopback, with a path for each behaviour. */
export class WebhookBackend implements AsyncDisposable {
  readonly calls: ReceivedCall[] = [];
  readonly #behaviours = new Map<string, Behaviour>();

  private constructor(private readonly server: Server) {}

  static async start(keys = servingKeys()): Promise<WebhookBackend> {
    const server = createServer({ cert: keys.certificatePem, key: keys.privateKeyPem });
    const backend = new WebhookBackend(server);
    server.on('request', (request, response) => void backend.#receive(request, response));
    server.on('tlsClientError', () => undefined);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return backend;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** Where `behaviour` is met, and by what its certificate is verified. */
  clientConfig(path: string, behaviour: Behaviour): { readonly url: string; readonly caBundle: string } {
    this.#behaviours.set(path, behaviour);
    return { url: `https://localhost:${this.port}${path}`, caBundle: caBundle() };
  }

  /** From now on. */
  behave(path: string, behaviour: Behaviour): void {
    this.#behaviours.set(path, behaviour);
  }

  callsTo(path: string): readonly ReceivedCall[] {
    return this.calls.filter(({ url }) => url.startsWith(`${path}?`));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const review = JSON.parse(Buffer.concat(chunks).toString()) as SentReview;
    const { url = '', headers, socket } = request;
    const call = { url, review, headers, port: socket.remotePort };
    this.calls.push(call);
    const behaviour = this.#behaviours.get(url.replace(/\?.*/, ''));
    if (typeof behaviour === 'function') behaviour(call, response);
    else respond(call, response, behaviour ?? { allowed: true });
  }
}

/** Base64 of what `servingKeys` are verified by. */
export function caBundle(): string {
  return Buffer.from(authority.certificatePem).toString('base64');
}

/** A proper answer with these fields. */
export function respond({ review }: ReceivedCall, response: ServerResponse, fields: object): void {
  const { apiVersion, kind, request } = review;
  response.setHeader('Content-Type', 'application/json');
  response.end(JSON.stringify({ apiVersion, kind, response: { uid: request.uid, ...fields } }));
}

/** The fields of a response that changes the object. */
export function patched(...operations: readonly object[]): object {
  const patch = Buffer.from(JSON.stringify(operations)).toString('base64');
  return { allowed: true, patchType: 'JSONPatch', patch };
}
