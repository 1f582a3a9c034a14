import { createRequire } from 'node:module';
import { ROOT_CONTEXT, trace, TraceFlags, type Span, type SpanContext, type Tracer } from '@opentelemetry/api';
import type * as Exporter from '@opentelemetry/exporter-trace-otlp-grpc';
import type * as Resources from '@opentelemetry/resources';
import type * as SdkTrace from '@opentelemetry/sdk-trace-base';
import type { SpanExporter } from '@opentelemetry/sdk-trace-base';
import { TokenBucket } from '../async/token-bucket';
import type { Logger } from './logger';
import { RequestTrace } from './request-trace';

export interface TracingOptions {
  /** `host:port` of a collector that takes OTLP over gRPC, without TLS. */
  readonly endpoint: string;
  /** Of a million requests, so many are sampled besides those whose client asks for it. */
  readonly samplingRatePerMillion: number;
  /** What the spans are of. */
  readonly version: string;
}

/** What a request may begin with. */
export interface IncomingRequest {
  readonly name: string;
  readonly traceParent: string | undefined;
  readonly method: string;
  readonly path: string;
}

export interface Tracing {
  /** Undefined: the request is not sampled. */
  readonly begin: (request: IncomingRequest) => RequestTrace | undefined;
  /** Sends what is left, for some seconds at most. */
  readonly close: () => Promise<void>;
}

const SERVICE = 'apiserver';
const PER_MILLION = 1_000_000;
/** Any client may ask to be sampled: so many are a second. */
const ASKED_PER_SECOND = 10;
const ASKED_AT_ONCE = 50;
const EXPORT_TIMEOUT_MS = 5_000;
const CLOSE_TIMEOUT_MS = 3_000;
const LOG_EVERY_MS = 60_000;
/** OpenTelemetry's kind of a span that answers a request. */
const SERVER = 1;

/** `00-<trace>-<span>-<flags>`; later versions may add to it. */
const TRACE_PARENT = /^(?!ff)[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(?:-.*)?$/;

export function parseTraceParent(header: string | undefined): SpanContext | undefined {
  if (header === undefined || header.length > 128) return undefined;
  const [, traceId, spanId, flags] = TRACE_PARENT.exec(header) ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & TraceFlags.SAMPLED, isRemote: true };
}

/**
 * Samples requests as kube-apiserver does: by its share, or as the client's `traceparent` says, which is heeded some times a
 * second only. A trace that its client does not sample is not sampled here.
 */
export function sampler(
  ratePerMillion: number,
  random: () => number = Math.random,
  now: () => number = () => performance.now(),
): (parent: SpanContext | undefined) => boolean {
  const asked = new TokenBucket(ASKED_PER_SECOND, ASKED_AT_ONCE, now());
  return (parent) => {
    if (parent === undefined) return ratePerMillion > 0 && random() * PER_MILLION < ratePerMillion;
    return (parent.traceFlags & TraceFlags.SAMPLED) !== 0 && asked.take(now());
  };
}

/** Loads OpenTelemetry, which is an optional peer. Throws what there is to install. */
export function startTracing(options: TracingOptions, logger: Pick<Logger, 'warn'>): Tracing {
  const { sdk, resources, otlp } = loadOpenTelemetry();
  const exporter: SpanExporter = new otlp.OTLPTraceExporter({
    url: `http://${options.endpoint}`,
    timeoutMillis: EXPORT_TIMEOUT_MS,
  });
  const provider = new sdk.BasicTracerProvider({
    resource: resources.resourceFromAttributes({ 'service.name': SERVICE, 'service.version': options.version }),
    sampler: new sdk.AlwaysOnSampler(),
    spanProcessors: [
      new sdk.BatchSpanProcessor(tellingFailures(exporter, logger), { exportTimeoutMillis: EXPORT_TIMEOUT_MS }),
    ],
  });
  const isSampled = sampler(options.samplingRatePerMillion);
  return {
    ...tracingBy(provider.getTracer('sternpost', options.version), isSampled),
    close: () => withinTime(provider.shutdown(), CLOSE_TIMEOUT_MS),
  };
}

/** Spans of sampled requests by any tracer. */
export function tracingBy(
  tracer: Tracer,
  isSampled: (parent: SpanContext | undefined) => boolean,
): Pick<Tracing, 'begin'> {
  const below = (name: string, parent: Span, attributes: Parameters<Span['setAttributes']>[0]): Span =>
    tracer.startSpan(name, { attributes }, trace.setSpan(ROOT_CONTEXT, parent));
  return {
    begin: ({ name, traceParent, method, path }) => {
      const parent = parseTraceParent(traceParent);
      if (!isSampled(parent)) return undefined;
      const context = parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent);
      const attributes = { 'http.request.method': method, 'url.path': path };
      return new RequestTrace(tracer.startSpan(name, { kind: SERVER, attributes }, context), below);
    },
  };
}

/** Failures are told once a minute: a collector may be away for long. */
function tellingFailures(exporter: SpanExporter, logger: Pick<Logger, 'warn'>): SpanExporter {
  let toldAt = -LOG_EVERY_MS;
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        const now = performance.now();
        if (result.error !== undefined && now - toldAt >= LOG_EVERY_MS) {
          toldAt = now;
          logger.warn({ err: result.error, spans: spans.length }, 'traces could not be sent');
        }
        done(result);
      }),
    shutdown: () => exporter.shutdown(),
    forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
  };
}

async function withinTime(work: Promise<void>, milliseconds: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, milliseconds)));
  await Promise.race([work.catch(() => undefined), late]);
  clearTimeout(timer);
}

const PACKAGES = [
  '@opentelemetry/sdk-trace-base',
  '@opentelemetry/resources',
  '@opentelemetry/exporter-trace-otlp-grpc',
] as const;

/** The newest of each do not fit together: the line of releases that has all of them, as our peer dependencies say. */
export const TRACING_INSTALL =
  'npm install @opentelemetry/api@~1.9.0 @opentelemetry/sdk-trace-base@^2.0.0 @opentelemetry/resources@^2.0.0 "@opentelemetry/exporter-trace-otlp-grpc@>=0.200.0 <0.300.0"';

function loadOpenTelemetry() {
  const [sdkName, resourcesName, otlpName] = PACKAGES;
  try {
    const sdk = load(sdkName) as typeof SdkTrace;
    const resources = load(resourcesName) as typeof Resources;
    const otlp = load(otlpName) as typeof Exporter;
    return { sdk, resources, otlp };
  } catch (error) {
    throw new Error(
      `--tracing-config-file needs packages that are not installed: ${TRACING_INSTALL} (${(error as Error).message})`,
      { cause: error },
    );
  }
}

/** By a name that the bundler does not see, so that they stay outside of our file; compiled code cannot import. */
const load = createRequire(__filename);
