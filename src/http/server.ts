import { constants } from 'node:crypto';
import {
  createServer as createPlainServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { SecureContextOptions, TlsOptions as TlsListenerOptions } from 'node:tls';
import { LongRunningRequests } from '../flowcontrol/long-running-requests';
import { BackendConnections } from '../kubelet/backend-connections';
import { MemoryBudget } from '../memory/memory-budget';
import { clientMemoryLimit, longRunningLimit } from '../memory/memory-limit';
import type { Logger } from '../observability/logger';
import { beginWork } from '../async/loop-work';
import { SharedTurns } from '../async/shared-turns';
import type { RequestMetrics } from '../observability/request-metrics';
import { TextWorker } from '../worker/text-worker';
import { Application } from './application/application';
import type { Extension } from './application/extension';
import { runFilters } from './filters/chain';
import { ConnectionAccounts } from './transport/connection-accounts';
import { RequestContext } from './request/context';
import type { ChainDependencies } from './filters/chain-dependencies';
import type { EndpointDependencies } from './endpoints/endpoint';
import type { NonResourceRoute } from './routes/route';
import { Deadlines } from './filters/deadline';
import { dispatch } from './endpoints/dispatch';
import { specialEndpoints } from './endpoints/special-endpoints';
import type { HttpRequest, HttpResponse } from './transport/exchange';
import { ALL_FEATURES, type ServerFeatures } from './request/features';
import { fieldOwnership } from '../resources/field-ownership';
import { sendErrorResponse, sendBareStatus, sendStatus } from './response/error-response';
import {
  http1LimitsFor,
  http1Options,
  leaveParser,
  MAX_HEADER_BYTES,
  refuseHead,
  watchConnections,
  type Http1Limits,
} from './transport/http1-connections';
import { ALPN_PROTOCOLS, Http2Listener } from './http2/http2-listener';
import { HalfHeads } from './transport/half-heads';
import { LargeBodies } from './request/large-bodies';
import { LargeBodyPlaces } from './request/large-body-places';
import { Arrivals } from './transport/arrivals';
import { RequestStarts } from './transport/request-starts';
import type { SharedLoop } from './transport/starts-by-cost';
import { PacedReadings } from './transport/paced-reading';
import { PipelinedRequests } from './transport/pipelined-requests';
import { workSources } from './request/work-sources';
import { writeResponse } from './response/response-writer';
import { isProbeUrl } from './filters/probes';
import { leaveSeat } from './filters/seats';
import { DeferredTlsHandshake } from './transport/deferred-tls-handshake';
import { TlsCopies } from './transport/tls-copies';
import { MountedRequest, MountedResponse } from './transport/mounted-exchange';
import { MountedRequests } from './transport/mounted-requests';
import { mayUpgrade, Upgrades } from './transport/upgrades';
import { bodyAlreadyRead, shuttingDown } from './response/refusals';

/** TLS of the listener: 1.2 at least; client certificates are asked for and judged by authentication. */
export type TlsOptions = Pick<SecureContextOptions, 'cert' | 'key' | 'ca' | 'ciphers' | 'minVersion'> &
  Pick<TlsListenerOptions, 'SNICallback'>;

export interface Http2Options {
  /** How many requests, watches included, one connection may have under way. */
  readonly maxStreamsPerConnection: number;
  /** How likely an answer asks its client to connect anew, so that clients spread over the replicas. */
  readonly goAwayChance: number;
}

export interface ServerOptions
  extends
    ChainDependencies,
    Omit<
      EndpointDependencies,
      'backends' | 'bodies' | 'closing' | 'features' | 'metrics' | 'now' | 'minRequestTimeoutSeconds'
    > {
  readonly nonResourceRoutes: readonly NonResourceRoute[];
  /** Routes of others outside the resource tree, behind the same filters. Absent: none. */
  readonly extensions?: readonly Extension[];
  /** Closed with the server. Absent: as with kube-apiserver's default flags. */
  readonly backends?: BackendConnections;
  /** Absent: plain HTTP, for tests and for a health port. */
  readonly tls?: TlsOptions;
  /** Of clients with TLS that prefer it. Absent: HTTP/1.1 only. */
  readonly http2?: Http2Options | undefined;
  /** For texts whose cost cannot be cut; stopped with the server. Absent: one of its own. */
  readonly textWorker?: TextWorker;
  /** 0: any free port. */
  readonly port: number;
  readonly host?: string;
  readonly logger: Logger;
  readonly metrics?: RequestMetrics;
  /** Absent: kube-apiserver's. */
  readonly http1Limits?: Http1Limits;
  /** What may be held for all clients together. Absent: a share of the memory that there is. */
  readonly memory?: MemoryBudget;
  /** What watches and streams may make the server keep. Absent: a share of the memory that there is. */
  readonly longRunning?: LongRunningRequests;
  readonly minRequestTimeoutSeconds?: number;
  /** Absent: all. */
  readonly features?: ServerFeatures;
  readonly now?: () => number;
}

export interface ApiServer {
  listen(): Promise<AddressInfo>;
  /** New connections get these from now on; open ones keep theirs. */
  setSecureContext(tls: TlsOptions): void;
  /**
   * From now on every answer ends its connection. So clients leave for another server while this one still serves, and
   * none of them finds its connection closed under a request.
   */
  drain(): void;
  /** Takes requests that came over another server, and answers them as if they had come over this one's. */
  readonly handler: (request: IncomingMessage, response: ServerResponse) => void;
  /** Takes a request of another server that wants its connection for another protocol; false: it may not have it, and is left alone. */
  readonly upgrade: (request: IncomingMessage, socket: Socket, head: Buffer) => boolean;
  /**
   * Takes no more connections, ends watches as if their time were over, lets requests under way finish, and closes what
   * is left after `graceMs`.
   */
  close(graceMs?: number): Promise<void>;
}

const DEFAULT_MIN_REQUEST_TIMEOUT_SECONDS = 1800;
const DEFAULT_GRACE_MS = 60_000;

/** The HTTP side of an API server: listener, filters, endpoints. */
export function createServer(options: ServerOptions): ApiServer {
  const { catalogue, logger, metrics } = options;
  const closing = new AbortController();
  let draining = false;
  const now = options.now ?? Date.now;
  const features = options.features ?? ALL_FEATURES;
  const application = new Application({
    routes: options.nonResourceRoutes,
    hasBuiltInGroup: (group) => catalogue.hasBuiltInGroup(group),
    extensions: options.extensions ?? [],
    closing: closing.signal,
    logger,
  });
  const known = {
    isKnownResource: (group: string, version: string, resource: string): boolean =>
      catalogue.resolve(group, version, resource) !== undefined,
    isKnownPath: (path: string): boolean => application.has(path),
  };
  const chain = {
    ...options,
    known,
    deadlines: new Deadlines(options.requestTimeoutMs, leaveSeat),
    workSources: workSources(catalogue),
    longRunning: options.longRunning ?? new LongRunningRequests(longRunningLimit()),
  };
  const textWorker = options.textWorker ?? new TextWorker();
  const bodies = new LargeBodies(textWorker);
  const places = new LargeBodyPlaces();
  const backends = options.backends ?? new BackendConnections();
  const endpoints: EndpointDependencies = {
    ...options,
    backends,
    bodies,
    specialEndpoints: new Map([...specialEndpoints, ...(options.specialEndpoints ?? [])]),
    minRequestTimeoutSeconds: options.minRequestTimeoutSeconds ?? DEFAULT_MIN_REQUEST_TIMEOUT_SECONDS,
    now,
    fieldOwnership: options.fieldOwnership ?? fieldOwnership(catalogue, now),
    closing: closing.signal,
    features,
  };
  const writer = { schema: catalogue.schema, now, features, bodies };
  const { goAwayChance = 0 } = options.http2 ?? {};
  const memory = options.memory ?? new MemoryBudget(clientMemoryLimit());
  const accounts = new ConnectionAccounts(memory);

  /** Requests about resources do not go through the application. */
  const respond = (context: RequestContext) =>
    context.info.isResourceRequest || options.aggregation?.apis.find(context.info) !== undefined
      ? dispatch(context, endpoints)
      : application.dispatch(context);
  const handle = async (context: RequestContext): Promise<void> => {
    const { request, response } = context;
    if (!features.compression) delete request.headers['accept-encoding'];
    context.onExpired = (error, isRequested) => {
      // The rest of the body is not read.
      if (request.httpVersion !== '2.0' && hasMoreBody(request)) response.setHeader('Connection', 'close');
      else request.resume();
      if (isRequested) sendStatus(context, error.status, catalogue.schema);
      else sendBareStatus(context, error.status);
    };
    if (request.httpVersion === '2.0' && goAwayChance > 0 && Math.random() < goAwayChance) {
      response.setHeader('Connection', 'close');
    }
    // HTTP/1.1 keeps connections without being told; Node would say so in each answer.
    if (request.httpVersion === '1.1' && request.headers.connection !== 'close') response.removeHeader('Connection');
    if (draining) response.setHeader('Connection', 'close');
    const pending = runFilters(context, chain);
    if (pending !== undefined) await pending;
    if (response.destroyed || context.aborted) return;
    if (request.bodyWasRead === true) throw bodyAlreadyRead();
    const { trace } = context;
    const dispatched =
      trace === undefined ? respond(context) : trace.within(`registry ${context.info.verb}`, () => respond(context));
    const { response: apiResponse, negotiated } = dispatched instanceof Promise ? await dispatched : dispatched;
    if (dispatched instanceof Promise) beginWork(context);
    if (response.headersSent || response.destroyed || apiResponse.type === 'streamed') return leaveSeat(context);
    const writing = writeResponse(context, apiResponse, negotiated, writer);
    // Making a list and handing it over are most of its work.
    if (apiResponse.type !== 'list' || options.fairness === undefined) leaveSeat(context);
    if (writing !== undefined) await writing;
    leaveSeat(context);
  };
  const loop: SharedLoop = { turns: new SharedTurns(), arrivals: new Arrivals(), ends: memory.ends };
  const starts = new RequestStarts(loop, isProbeUrl);
  const listener = (request: HttpRequest, response: HttpResponse): void => {
    const context = new RequestContext(request, response, features.warnings, accounts, places);
    starts.begin(request, context.receivedAt, (nowMs) => begin(context, nowMs));
  };
  /** The one place where what was thrown for a request ends. */
  const begin = (context: RequestContext, nowMs: number): void => {
    if (context.finished) return;
    const { request, response } = context;
    beginWork(context, nowMs);
    handle(context)
      .catch((error: unknown) => {
        leaveSeat(context);
        if (request.connectionUpgrade?.isTaken) throw error;
        return sendErrorResponse(context, error, catalogue.schema, logger);
      })
      .catch((error: unknown) => {
        logger.error({ err: error, path: context.info.path }, 'a failure could not be answered');
        response.destroy();
      });
  };
  const mounted = new MountedRequests();
  const pipelined = new PipelinedRequests(memory);
  const http1Listener: RequestListener = (request, response) => {
    if (refuseHead(request, response)) return;
    if (pipelined.isItsTurn(response)) listener(request, response);
    else pipelined.keep(response, () => listener(request, response));
  };
  const http2 =
    options.http2 &&
    new Http2Listener({
      maxStreams: options.http2.maxStreamsPerConnection,
      accountOf: (socket) => accounts.of(socket),
      endings: memory.ends,
      onRequest: ({ request, response }) => listener(request, response),
      onFault: (error) => logger.error({ err: error }, 'an HTTP/2 connection failed'),
    });
  const limits = options.http1Limits ?? http1LimitsFor(options.requestTimeoutMs);
  const server =
    options.tls === undefined
      ? createPlainServer(http1Options(limits), http1Listener)
      : createTlsServer(
          {
            ...http1Options(limits),
            ...tlsOptions(options.tls),
            ...(http2 !== undefined && { ALPNProtocols: ALPN_PROTOCOLS }),
          },
          http1Listener,
        );
  watchConnections(server, limits);
  new HalfHeads(MAX_HEADER_BYTES, (socket) => accounts.of(socket)).attach(server);
  const upgrades = new Upgrades({
    isUpgrade: mayUpgrade,
    onRequest: (request, response) => {
      if (!refuseHead(request, response)) listener(request, response);
    },
    giveBack: (socket) => server.emit(isTls(server) ? 'secureConnection' : 'connection', socket),
    onLeft: leaveParser,
  });
  upgrades.attach(server);
  const recordTlsHandshakeError = (): void => metrics?.recordTlsHandshakeError();
  const handshakes = new DeferredTlsHandshake({
    arrivals: loop.arrivals,
    onFault: recordTlsHandshakeError,
    handshakeLimitMs: limits.requestHeadMs,
    memory,
  });
  if (isTls(server)) {
    http2?.attach(server);
    new TlsCopies(memory).attach(server);
    new PacedReadings((socket) => accounts.of(socket), loop).attach(server);
    handshakes.attach(server);
  }
  // Watches and streams last.
  server.timeout = 0;
  server.on('tlsClientError', recordTlsHandshakeError);

  return {
    listen: async () => {
      await application.ready();
      return listen(server, options.port, options.host);
    },
    setSecureContext: (tls) => {
      if (isTls(server)) server.setSecureContext(tlsOptions(tls));
    },
    drain: () => {
      draining = true;
      for (const { response } of chain.deadlines.pending()) {
        if (!response.headersSent) response.setHeader('Connection', 'close');
      }
    },
    handler: (incoming, outgoing) => {
      const request = new MountedRequest(incoming);
      const response = new MountedResponse(outgoing);
      if (closing.signal.aborted)
        return sendErrorResponse(new RequestContext(request, response), shuttingDown(), catalogue.schema, logger);
      mounted.add(response);
      listener(request, response);
    },
    upgrade: (request, socket, head) => !closing.signal.aborted && upgrades.accept(request, socket, head),
    close: async (graceMs = DEFAULT_GRACE_MS) => {
      draining = true;
      closing.abort();
      await Promise.all([close(server, handshakes, upgrades, http2, graceMs), mounted.end(graceMs)]);
      backends.close();
      await textWorker.stop();
    },
  };
}

function tlsOptions(tls: TlsOptions): TlsListenerOptions {
  return {
    minVersion: 'TLSv1.2',
    ...tls,
    // A client that begins anew costs a signature each time; Go's server never allows it.
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
    requestCert: true,
    rejectUnauthorized: false,
  };
}

function isTls(server: Server | TlsServer): server is TlsServer {
  return 'setSecureContext' in server;
}

/** Connections that the system keeps until they are accepted: as many as it may, as with Go's server. */
const BACKLOG = 4096;

async function listen(server: Server, port: number, host: string | undefined): Promise<AddressInfo> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, backlog: BACKLOG, ...(host === undefined ? {} : { host }) }, () => {
      server.off('error', reject);
      resolve();
    });
  });
  return server.address() as AddressInfo;
}

async function close(
  server: Server,
  handshakes: DeferredTlsHandshake,
  upgrades: Upgrades,
  http2: Http2Listener | undefined,
  graceMs: number,
): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  handshakes.drain();
  server.closeIdleConnections();
  http2?.drain();
  // A connection becomes idle when its last request is answered.
  const sweep = setInterval(() => server.closeIdleConnections(), 50);
  const force = setTimeout(() => {
    server.closeAllConnections();
    http2?.destroy();
    upgrades.destroy();
    handshakes.destroy();
  }, graceMs);
  await closed;
  clearInterval(sweep);
  clearTimeout(force);
}

/** As much of a body is dropped as it comes, as Go's server does; for more the connection ends. */
const MAX_DROPPED_BYTES = 256 * 1024;

function hasMoreBody({ headers, readableEnded }: HttpRequest): boolean {
  if (readableEnded) return false;
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > MAX_DROPPED_BYTES;
}
