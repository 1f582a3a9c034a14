import { createHash } from 'node:crypto';
import { JsonPieces } from '../api/codec/json-pieces';
import type { GroupVersion } from '../api/openapi/definitions';
import { remotePartOf, type RemotePart } from '../api/openapi/remote-part';
import { jsonEqual } from '../api/patch/json-equal';
import { runSteps, type Steps } from '../async/steps';
import { WorkQueue } from '../async/work-queue';
import type { BackendResponse, BackendTransport } from '../client/backend-transport';
import type { ResolveService, ServiceLookup } from '../client/service-resolver';
import { hostPortOf } from '../kubelet/backend';
import type { Logger } from '../observability/logger';
import { failedDiscovery, PASSED, serviceProblem, type Availability } from './availability';
import { AGGREGATOR, identityHeaders } from './identity-headers';
import { rootPathOf, type RemoteApi } from './remote-api';
import type { RemoteApis, RemoteEntry } from './remote-apis';
import { remoteResources } from './remote-resources';

export interface AvailabilityChecksOptions {
  readonly apis: RemoteApis;
  readonly services: ServiceLookup;
  readonly resolveService: ResolveService;
  readonly transport: BackendTransport;
  /** Writes the condition of an APIService, where it says something else. */
  readonly report: (name: string, availability: Availability, signal: AbortSignal) => Promise<void>;
  readonly logger: Logger;
}

const CHECK_TIMEOUT_MS = 5_000;
/** Between checks of what is available, and of what is not. */
const RECHECK_MS = 30_000;
const RETRY_MS = 2_000;
/** Of a list of resources. */
const MAX_LIST_BYTES = 1024 * 1024;
const MAX_LIST_VALUES = 50_000;
const DOCUMENT_TIMEOUT_MS = 10_000;
const DOCUMENT_AGE_MS = 60_000;
/** Of an OpenAPI document, and of all of them. */
const MAX_DOCUMENT_BYTES = 4 * 1024 * 1024;
const MAX_DOCUMENTS_BYTES = 32 * 1024 * 1024;
/** Of one that is read: lists, maps and members. */
const MAX_DOCUMENT_VALUES = 500_000;
const PIECE_BYTES = 64 * 1024;

/**
 * Asks other API servers for their resources again and again: whether they answer decides whether requests are passed on, and
 * what they answer is what discovery and OpenAPI tell of them. No request waits for it.
 */
export class AvailabilityChecks {
  readonly #options: AvailabilityChecksOptions;
  readonly #stop = new AbortController();
  readonly #queue: WorkQueue;
  readonly #timers = new Map<string, NodeJS.Timeout>();
  /** When each document was last asked for; milliseconds of the monotonic clock. */
  readonly #documentsAskedAt = new Map<string, number>();

  constructor(options: AvailabilityChecksOptions) {
    this.#options = options;
    this.#queue = new WorkQueue(
      (name) => this.#check(name),
      (name, error) => options.logger.warn({ err: error, name }, 'checking an API service failed'),
    );
  }

  /** Something about its APIService or its service has changed. */
  checkSoon(name: string): void {
    this.#queue.add(name);
  }

  forget(name: string): void {
    clearTimeout(this.#timers.get(name));
    this.#timers.delete(name);
    this.#documentsAskedAt.delete(name);
  }

  async close(): Promise<void> {
    this.#stop.abort();
    for (const name of [...this.#timers.keys()]) this.forget(name);
    await this.#queue.close();
  }

  async #check(name: string): Promise<void> {
    const { apis, report } = this.#options;
    const entry = apis.get(name);
    if (entry === undefined) return this.forget(name);
    const availability = await this.#availabilityOf(entry);
    if (this.#stop.signal.aborted) return;
    this.#checkAfter(name, availability === PASSED ? RECHECK_MS : RETRY_MS);
    await report(name, availability, this.#stop.signal);
    if (availability === PASSED) await this.#refreshDocuments(entry);
  }

  #checkAfter(name: string, milliseconds: number): void {
    clearTimeout(this.#timers.get(name));
    if (this.#stop.signal.aborted) return;
    this.#timers.set(
      name,
      setTimeout(() => this.checkSoon(name), milliseconds),
    );
  }

  async #availabilityOf(entry: RemoteEntry): Promise<Availability> {
    const { apis, services } = this.#options;
    const { api } = entry;
    const problem = serviceProblem(api, services);
    if (problem !== undefined) return problem;
    let url = '';
    let response: BackendResponse;
    try {
      const origin = this.#originOf(api);
      url = origin + rootPathOf(api);
      response = await this.#ask(entry, origin, rootPathOf(api), CHECK_TIMEOUT_MS, MAX_LIST_BYTES);
    } catch (error) {
      const { message } = error as Error;
      return failedDiscovery(url === '' ? message : `failing or missing response from ${url}: ${message}`);
    }
    if (response.status < 200 || response.status >= 300) {
      return failedDiscovery(`failing or missing response from ${url}: bad status from ${url}: ${response.status}`);
    }
    const list = await runSteps(valueIn(response.body, MAX_LIST_VALUES), 'reading a list of resources').catch(
      () => undefined,
    );
    const resources = remoteResources(list, api.group, api.version);
    const known = apis.get(api.name)?.resources;
    if (resources !== undefined && !jsonEqual(known, resources)) apis.learn(entry, { resources });
    return PASSED;
  }

  /** For OpenAPI. A server without documents has none here. */
  async #refreshDocuments(entry: RemoteEntry): Promise<void> {
    const { name } = entry.api;
    const now = performance.now();
    if (now - (this.#documentsAskedAt.get(name) ?? -Infinity) < DOCUMENT_AGE_MS) return;
    this.#documentsAskedAt.set(name, now);
    await this.#refreshV3(entry);
    await this.#refreshV2(entry);
  }

  async #refreshV3(entry: RemoteEntry): Promise<void> {
    const { apis } = this.#options;
    const { name } = entry.api;
    const body = await this.#document(entry, `/openapi/v3${rootPathOf(entry.api)}`);
    if (body === undefined) return;
    const etag = hashOf(body);
    if (apis.get(name)?.document?.etag !== etag) apis.learn(entry, { document: { body, etag } });
  }

  async #refreshV2(entry: RemoteEntry): Promise<void> {
    const { apis } = this.#options;
    const body = await this.#document(entry, '/openapi/v2');
    if (body === undefined) return;
    const etag = hashOf(body);
    if (apis.get(entry.api.name)?.part?.etag === etag) return;
    const part = await runSteps(partIn(body, entry.api), 'reading an OpenAPI document').catch(() => undefined);
    apis.learn(entry, { part: { part, etag, bytes: body.length } });
  }

  /** Undefined: there is none, or no room for it. */
  async #document(entry: RemoteEntry, path: string): Promise<Buffer | undefined> {
    const origin = this.#originOf(entry.api);
    const response = await this.#ask(entry, origin, path, DOCUMENT_TIMEOUT_MS, MAX_DOCUMENT_BYTES).catch(
      () => undefined,
    );
    // `{`: what is no JSON object is no document either.
    if (response?.status !== 200 || response.body[0] !== 0x7b) return undefined;
    const others = [...this.#options.apis.entries()].filter(({ api }) => api.name !== entry.api.name);
    const held = others.reduce((sum, one) => sum + (one.document?.body.length ?? 0) + (one.part?.bytes ?? 0), 0);
    return held + response.body.length > MAX_DOCUMENTS_BYTES ? undefined : response.body;
  }

  #originOf({ service: { namespace, name, port } }: RemoteApi): string {
    return `https://${hostPortOf(this.#options.resolveService(namespace, name, port))}`;
  }

  #ask(
    { tls }: RemoteEntry,
    origin: string,
    path: string,
    timeoutMs: number,
    maxBytes: number,
  ): Promise<BackendResponse> {
    const headers: Record<string, string> = { Accept: 'application/json' };
    for (const [name, values] of Object.entries(identityHeaders(AGGREGATOR) ?? {})) headers[name] = values.join(',');
    const { signal } = this.#stop;
    const call = { path, method: 'GET' as const, headers, timeoutMs, signal, maxBytes };
    return this.#options.transport.request({ origin, tls: tls() }, call);
  }
}

function hashOf(body: Buffer): string {
  return createHash('sha512').update(body).digest('hex').toUpperCase();
}

/** Throws for what is no JSON, or has too much in it. */
function valueIn(body: Buffer, maxValues: number): Steps<unknown> {
  return new JsonPieces(body, { maxValues, pieceBytes: PIECE_BYTES }).steps();
}

function* partIn(body: Buffer, groupVersion: GroupVersion): Steps<RemotePart | undefined> {
  return yield* remotePartOf(yield* valueIn(body, MAX_DOCUMENT_VALUES), groupVersion);
}
