import type { Socket } from 'node:net';
import type { AcceptedWebSocket } from '../../streams/accept-web-socket';
import { onAbort } from '../../async/on-abort';
import { negotiate, unacceptable, BUILT_IN, CUSTOM, type Negotiated } from '../request/negotiate';
import type { RequestContext } from '../request/context';
import type { HttpResponse } from '../transport/exchange';
import type { Endpoint, EndpointDependencies, ResourceRequest } from './endpoint';
import { parseCollectionOptions } from '../request/list-options';
import { timerMs } from '../../api/time/timer-limit';
import type { EntryWatch, SendItems } from '../../registry/watch';
import { sendWarnings } from '../response/response-writer';
import { writeHead } from '../response/response-head';
import { parseIncludeObject } from '../response/table';
import { chunkTaken, drainSource, encodeBatch, MAX_UNSENT_BYTES, writeChunk } from '../response/watch-chunk';
import { prepareEvents } from '../response/prepare-events';
import { watchEncoder, watchFailure, type WatchEncoder, type WatchFormat } from '../response/watch-encoder';
import { scopeOf } from './resource-request';
import { endMessages, hasOrigin, openWebSocket, sendMessages, webSocketOf } from './watch-messages';

/** How often a client that does not read is checked for being worth waiting for. */
const STALL_CHECK_MS = 1_000;

const STREAM_TYPES = ['application/json;stream=watch', 'application/vnd.kubernetes.protobuf;stream=watch'];

/** Streams what happens in a collection until the client leaves, its time is over or the server goes down. */
export const watchObjects: Endpoint = (request, dependencies) => {
  const { context, served } = request;
  const options = parseCollectionOptions(context.info, served);
  const negotiated = negotiate(context.request.headers.accept, served.custom ? CUSTOM : BUILT_IN);
  // 0 says nothing, as on kube-apiserver.
  const timeoutMs = timerMs((options.timeoutSeconds || randomTimeoutSeconds(dependencies)) * 1000);
  const format = watchFormat(request, negotiated);
  const upgrade = webSocketOf(context);
  if (upgrade !== undefined && !hasOrigin(context)) return { type: 'empty', code: 403 };
  if (format === undefined) {
    // The list form of a transform has no form for one object: the stream ends before its first event.
    openStream(context, 'application/json');
    context.response.end();
    return { type: 'streamed' };
  }
  const encoder = watchEncoder(served, format, dependencies.catalogue.schema, dependencies.now);
  const { resourceVersion, resourceVersionMatch, selection } = options.list;
  const ending = new EndOfWatch(context, timeoutMs, dependencies.closing);
  const watch = request.registry.watch(
    scopeOf(request),
    {
      allowWatchBookmarks: options.allowWatchBookmarks,
      timeoutMs,
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
      ...(resourceVersionMatch === undefined ? {} : { resourceVersionMatch }),
      ...(options.sendInitialEvents && resourceVersionMatch !== undefined ? { sendInitialEvents: true } : {}),
      ...(selection === undefined ? {} : { selection }),
    },
    ending.signal,
    context,
  );
  if (upgrade === undefined) {
    openStream(context, encoder.contentType);
    streamEvents(request, watch, encoder, dependencies, ending);
  } else {
    const accepted = openWebSocket(context, upgrade);
    if (accepted !== undefined) streamMessages(request, watch, encoder, dependencies, ending, accepted);
  }
  return { type: 'streamed' };
};

function watchFormat({ context }: ResourceRequest, { format, transform }: Negotiated): WatchFormat | undefined {
  if (format === 'yaml') throw unacceptable(STREAM_TYPES);
  if (transform === undefined) return { format, includeObject: 'Metadata' };
  const { kind, apiVersion } = transform;
  if (kind === 'PartialObjectMetadataList') return undefined;
  // Only a Table says what is wrong with the parameter.
  const wanted = kind === 'Table' ? context.info.query.first('includeObject') : undefined;
  return { format, transform: { kind, apiVersion }, includeObject: parseIncludeObject(wanted) };
}

function randomTimeoutSeconds({ minRequestTimeoutSeconds }: EndpointDependencies): number {
  return minRequestTimeoutSeconds * (1 + Math.random());
}

/** The head of the answer goes out at once: the client knows that it is watching before anything happens. */
function openStream(context: RequestContext, contentType: string): void {
  const { response } = context;
  context.statusCode = 200;
  sendWarnings(context);
  writeHead(response, 200, { 'Content-Type': contentType });
  response.flushHeaders();
  context.audit?.started();
}

/** Why they all abort: without one, each would have an error made, with a stack trace. */
const WATCH_ENDED = new Error('the watch is over');

/** One signal for the three ways in which a watch ends without an error. */
class EndOfWatch {
  private readonly controller = new AbortController();

  constructor(context: RequestContext, timeoutMs: number, closing: AbortSignal) {
    const end = (): void => this.controller.abort(WATCH_ENDED);
    const timer = setTimeout(end, timeoutMs);
    const forget = onAbort(closing, end);
    context.onFinished(() => {
      clearTimeout(timer);
      forget();
      end();
    });
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }
}

/** Goes on after the endpoint has returned: a suspended function per layer would cost each watch half a kilobyte. */
function streamEvents(
  { context, served }: ResourceRequest,
  watch: EntryWatch,
  encoder: WatchEncoder,
  { metrics }: EndpointDependencies,
  { signal }: EndOfWatch,
): void {
  const { response } = context;
  const { group, version } = served.version;
  const resource = { group, version, resource: served.definition.resource };
  const sendPrepared: SendItems = (items) => {
    const chunk = encodeBatch(items, encoder);
    metrics?.recordWatchEvents(resource, items.length, chunk.length);
    context.responseBytes += chunk.length;
    if (!writeChunk(response, chunk)) {
      return chunkTaken(response, chunk, context.memory, () => drained(drainSource(response), response, watch, signal));
    }
  };
  const send = whenReady(context, signal, encoder, sendPrepared);
  watch
    .run(send)
    .catch((error: unknown) => {
      if (!signal.aborted) writeAll(response, encoder.error(watchFailure(error)));
    })
    .finally(() => response.end())
    .catch(() => response.destroy());
}

/** As {@link streamEvents}, with a message for each event. */
function streamMessages(
  { context, served }: ResourceRequest,
  watch: EntryWatch,
  encoder: WatchEncoder,
  { metrics, closing }: EndpointDependencies,
  { signal }: EndOfWatch,
  accepted: AcceptedWebSocket,
): void {
  const { response } = context;
  const { socket } = accepted;
  const { group, version } = served.version;
  const resource = { group, version, resource: served.definition.resource };
  const sendPrepared: SendItems = (items) => {
    const bytes = sendMessages(accepted, items, encoder);
    metrics?.recordWatchEvents(resource, items.length, bytes);
    context.responseBytes += bytes;
    if (socket.writableLength <= MAX_UNSENT_BYTES) return;
    context.memory.hold(bytes);
    return drained(socket, response, watch, signal).then(() => context.memory.release(bytes));
  };
  const send = whenReady(context, signal, encoder, sendPrepared);
  watch
    .run(send)
    .then(
      () => endMessages(accepted, encoder, { isGoingDown: closing.aborted }),
      (error: unknown) => {
        const last = signal.aborted ? {} : { last: encoder.error(watchFailure(error)) };
        endMessages(accepted, encoder, { ...last, isGoingDown: closing.aborted });
      },
    )
    .catch(() => socket.destroy());
}

function writeAll(response: HttpResponse, pieces: readonly Uint8Array[]): void {
  for (const piece of pieces) response.write(piece);
}

/** Nothing is made of events before there is room for it, and what is made of large objects is made a part at a time. */
function whenReady(
  context: RequestContext,
  signal: AbortSignal,
  encoder: WatchEncoder,
  sendPrepared: SendItems,
): SendItems {
  const isOver = (): boolean => signal.aborted || context.response.destroyed;
  const sendNow: SendItems = (items) => {
    const preparing = prepareEvents(items, encoder);
    return preparing === undefined
      ? sendPrepared(items)
      : preparing.then(() => (isOver() ? undefined : sendPrepared(items)));
  };
  return (items) =>
    context.isHeldBack(true) ? context.room(true).then(() => (isOver() ? undefined : sendNow(items))) : sendNow(items);
}

/**
 * Until the client has read enough for more, or the watch ends. Meanwhile the registry bounds what waits for it; when that
 * is given up the client is cut off, since it cannot even be told.
 */
async function drained(
  source: Socket | HttpResponse,
  response: HttpResponse,
  watch: EntryWatch,
  signal: AbortSignal,
): Promise<void> {
  await new Promise<void>((resolve) => {
    const check = setInterval(() => {
      if (!watch.isTooFarBehind) return;
      watch.gaveUp();
      response.destroy();
    }, STALL_CHECK_MS);
    const done = (): void => {
      clearInterval(check);
      source.off('drain', done);
      response.off('close', done);
      signal.removeEventListener('abort', done);
      resolve();
    };
    source.on('drain', done);
    response.on('close', done);
    signal.addEventListener('abort', done);
    if (signal.aborted || response.destroyed || !source.writableNeedDrain) done();
  });
}
