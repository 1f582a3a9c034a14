import { parseExact, stringifyExact } from '../api/codec/exact-json';
import { setMaxListeners } from 'node:events';
import { request as httpsRequest, type Agent } from 'node:https';
import { finished } from 'node:stream/promises';
import type { IncomingMessage } from 'node:http';
import type { KubeObject, ListMeta } from '../api/object';
import { turnToBegin } from '../async/turn';
import { StatusError, type Status } from '../api/errors/status-error';
import { agentFor } from './peer-tls';
import type { RecordClientCall } from './rest-client-metrics';

/** Where an API server is and how to prove who we are; PEM texts. */
export interface ClientConfig {
  readonly url: string;
  /** Absent: those of the system. */
  readonly certificateAuthority?: string;
  readonly clientCertificate?: string;
  readonly clientKey?: string;
  readonly bearerToken?: string;
  /** Credentials that change; they come before the fixed ones. */
  readonly credentials?: CredentialSource;
  readonly serverName?: string;
  /** Do not verify the server: for tests of other people's clusters. */
  readonly insecure?: boolean;
  readonly userAgent: string;
  /** Told of every request, whatever came of it. */
  readonly record?: RecordClientCall;
}

export interface Credentials {
  readonly token?: string;
  readonly clientCertificate?: string;
  readonly clientKey?: string;
  /** What the server is verified by from now on. */
  readonly certificateAuthority?: string;
}

/** Where changing credentials come from: a credential plugin, files. */
export interface CredentialSource {
  current(): Promise<Credentials>;
  /** The server refused them. */
  forget(): void;
}

export interface ListOf<T = KubeObject> {
  readonly metadata: ListMeta;
  readonly items: readonly T[];
}

/** A list as it is sent: an empty one of metadata has null. */
type Page<T> = Omit<ListOf<T>, 'items'> & { readonly items: readonly T[] | null };

export type WatchEvent =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK'; readonly object: KubeObject }
  | { readonly type: 'ERROR'; readonly object: Status };

/** Of a page: what is parsed of it at once takes a few milliseconds. */
const PAGE_OBJECTS = 200;

/** What is asked for of an object: all of it, or its metadata only (API concepts, "Receiving resources as PartialObjectMetadata"). */
export type Representation = 'object' | 'metadata';

const OBJECT_TYPE = 'application/json';
const METADATA_TYPE = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
const METADATA_LIST_TYPE = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';

const PATCH_TYPES = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
} as const;

async function readAll(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

function toError(code: number, text: string): StatusError {
  try {
    const status = JSON.parse(text) as Status;
    if (status.kind === 'Status') return new StatusError(code, status.reason, status.message ?? text, status.details);
  } catch {
    // Not a Status: plain text of a proxy, for example.
  }
  return new StatusError(code, undefined, text);
}

/** What makes another connection of the same client. */
const CERTIFICATES = ['certificateAuthority', 'clientCertificate', 'clientKey'] as const;

/** A plain client of the resource API. Every failure that the server explains is thrown as a {@link StatusError}. */
export class ApiClient {
  /** With the certificates that the agent has. */
  #config: ClientConfig;
  #agent: Agent;

  constructor(config: ClientConfig) {
    this.#config = config;
    this.#agent = agentFor(config);
  }

  async get<T = KubeObject>(path: string, signal?: AbortSignal): Promise<T> {
    return this.#json<T>('GET', path, undefined, undefined, signal);
  }

  async getMetadata(path: string, signal?: AbortSignal): Promise<KubeObject> {
    return this.#json<KubeObject>('GET', path, undefined, undefined, signal, METADATA_TYPE);
  }

  /** A collection page by page, all of it as of one revision. `path` may end with selectors in a query. */
  async *pages<T = KubeObject>(
    path: string,
    signal?: AbortSignal,
    representation: Representation = 'object',
  ): AsyncGenerator<ListOf<T>> {
    const accept = representation === 'object' ? OBJECT_TYPE : METADATA_LIST_TYPE;
    const limited = `${path}${path.includes('?') ? '&' : '?'}limit=${PAGE_OBJECTS}`;
    const getPage = async (pagePath: string): Promise<ListOf<T>> => {
      const { metadata, items } = await this.#json<Page<T>>('GET', pagePath, undefined, undefined, signal, accept);
      return { metadata, items: items ?? [] };
    };
    let page = await getPage(limited);
    for (;;) {
      yield page;
      const token = page.metadata.continue ?? '';
      if (token === '') return;
      page = await getPage(`${limited}&continue=${encodeURIComponent(token)}`);
    }
  }

  async create<T = KubeObject>(path: string, body: object, signal?: AbortSignal): Promise<T> {
    return this.#json<T>('POST', path, body, 'application/json', signal);
  }

  async update<T = KubeObject>(path: string, body: object, signal?: AbortSignal): Promise<T> {
    return this.#json<T>('PUT', path, body, 'application/json', signal);
  }

  async patch<T = KubeObject>(
    path: string,
    type: keyof typeof PATCH_TYPES,
    body: object,
    signal?: AbortSignal,
  ): Promise<T> {
    return this.#json<T>('PATCH', path, body, PATCH_TYPES[type], signal);
  }

  async delete<T = KubeObject>(path: string, options?: object, signal?: AbortSignal): Promise<T> {
    return this.#json<T>('DELETE', path, options, options === undefined ? undefined : 'application/json', signal);
  }

  /** Deletes all objects of a collection. What they were is not read: there may be very many. */
  async deleteCollection(path: string, options: object, signal?: AbortSignal): Promise<void> {
    const response = await this.#send('DELETE', path, options, 'application/json', signal);
    const code = response.statusCode ?? 0;
    if (code >= 400) throw toError(code, await readAll(response));
    await finished(response.resume());
  }

  /** Events of a collection from a resourceVersion on, until the server ends the stream or the signal aborts. */
  async *watch(
    path: string,
    signal: AbortSignal,
    representation: Representation = 'object',
  ): AsyncGenerator<WatchEvent> {
    const accept = representation === 'object' ? OBJECT_TYPE : METADATA_TYPE;
    const response = await this.#send('GET', path, undefined, undefined, signal, accept);
    if (response.statusCode !== 200) throw toError(response.statusCode ?? 0, await readAll(response));
    response.setEncoding('utf8');
    let rest = '';
    for await (const chunk of response) {
      const lines = (rest + (chunk as string)).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) if (line !== '') yield parseExact(line) as WatchEvent;
    }
  }

  close(): void {
    this.#agent.destroy();
  }

  async #json<T>(
    method: string,
    path: string,
    body: object | undefined,
    contentType: string | undefined,
    signal: AbortSignal | undefined,
    accept = OBJECT_TYPE,
  ): Promise<T> {
    const response = await this.#send(method, path, body, contentType, signal, accept);
    const text = await readAll(response);
    const code = response.statusCode ?? 0;
    if (code >= 400) throw toError(code, text);
    return parseExact(text) as T;
  }

  async #send(
    method: string,
    path: string,
    body: object | undefined,
    contentType: string | undefined,
    signal: AbortSignal | undefined,
    accept = OBJECT_TYPE,
  ): Promise<IncomingMessage> {
    const { credentials } = this.#config;
    const response = await this.#sendOnce(method, path, body, contentType, signal, accept);
    if (response.statusCode !== 401 || credentials === undefined) return response;
    response.resume();
    credentials.forget();
    return this.#sendOnce(method, path, body, contentType, signal, accept);
  }

  /** The token to send; another certificate, or authority, means new connections. */
  async #authenticate(): Promise<string | undefined> {
    const { credentials, bearerToken } = this.#config;
    if (credentials === undefined) return bearerToken;
    const { token, ...certificates } = await credentials.current();
    const config = { ...this.#config, ...certificates };
    if (CERTIFICATES.some((name) => config[name] !== this.#config[name])) {
      this.#config = config;
      this.#agent.destroy();
      this.#agent = agentFor(config);
    }
    return token ?? bearerToken;
  }

  /** Gives what is told, once, what came of a request that begins now. */
  #recorder(method: string): (code: number | '<error>') => void {
    const { record, url } = this.#config;
    if (record === undefined) return () => undefined;
    const startedMs = performance.now();
    let isTold = false;
    return (code) => {
      if (isTold) return;
      isTold = true;
      record({ host: new URL(url).host, method, code, durationSeconds: (performance.now() - startedMs) / 1000 });
    };
  }

  async #sendOnce(
    method: string,
    path: string,
    body: object | undefined,
    contentType: string | undefined,
    signal: AbortSignal | undefined,
    accept: string,
  ): Promise<IncomingMessage> {
    const payload = body === undefined ? undefined : Buffer.from(stringifyExact(body));
    const bearerToken = await this.#authenticate();
    // A controller has one signal for all that it asks at once; each request listens for the end only while it lasts.
    if (signal !== undefined) setMaxListeners(0, signal);
    // Dozens begin at once where informers start, and each may have a connection to make.
    await turnToBegin('requests to an API server');
    const tell = this.#recorder(method);
    return new Promise((resolve, reject) => {
      const request = httpsRequest(
        new URL(path, this.#config.url),
        {
          method,
          agent: this.#agent,
          ...(signal === undefined ? {} : { signal }),
          headers: {
            Accept: accept,
            'User-Agent': this.#config.userAgent,
            ...(bearerToken === undefined ? {} : { Authorization: `Bearer ${bearerToken}` }),
            ...(payload === undefined
              ? {}
              : { 'Content-Type': contentType ?? 'application/json', 'Content-Length': payload.length }),
          },
        },
        (response) => {
          tell(response.statusCode ?? 0);
          resolve(response);
        },
      );
      request.on('error', (error) => {
        tell('<error>');
        reject(error);
      });
      request.end(payload);
    });
  }
}
