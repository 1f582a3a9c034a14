import type { Attributes, Span } from '@opentelemetry/api';

/** Known at once, or later. */
type MaybePromise<T> = T | Promise<T>;

/** Begins a span below another one. */
export type BeginSpan = (name: string, parent: Span, attributes: Attributes) => Span;

/** One request may write a thousand objects, or lose a race again and again. */
const MAX_SPANS = 200;

/** W3C's `traceparent` for a call within a span. */
function traceParentOf(span: Span): string {
  const { traceId, spanId } = span.spanContext();
  return `00-${traceId}-${spanId}-01`;
}

/**
 * The spans of one request that is sampled; others have none, and cost nothing. It is handed on with the request itself, since
 * asynchronous context would cost every promise of the process.
 */
export class RequestTrace {
  readonly #begin: BeginSpan;
  readonly #root: Span;
  /** What the next span stands below. */
  #current: Span;
  #spans = 0;

  constructor(root: Span, begin: BeginSpan) {
    this.#root = root;
    this.#current = root;
    this.#begin = begin;
  }

  get traceId(): string {
    return this.#root.spanContext().traceId;
  }

  /** A span around a step; those of what it does stand below it. */
  within<T>(name: string, step: () => MaybePromise<T>): MaybePromise<T> {
    if (++this.#spans > MAX_SPANS) return step();
    const before = this.#current;
    const span = this.#begin(name, before, {});
    this.#current = span;
    const done = (): void => {
      span.end();
      if (this.#current === span) this.#current = before;
    };
    const failed = (error: unknown): never => {
      fail(span, error);
      done();
      throw error;
    };
    let result: MaybePromise<T>;
    try {
      result = step();
    } catch (error) {
      return failed(error);
    }
    if (result instanceof Promise) {
      return result.then((value) => {
        done();
        return value;
      }, failed);
    }
    done();
    return result;
  }

  /** A span around a call that is under way. Returns the call itself: the caller must wait no longer than others. */
  observe<T>(name: string, attributes: Attributes, call: Promise<T>): Promise<T> {
    if (++this.#spans > MAX_SPANS) return call;
    const span = this.#begin(name, this.#current, attributes);
    call.then(
      () => span.end(),
      (error: unknown) => {
        fail(span, error);
        span.end();
      },
    );
    return call;
  }

  /** A span around one call of another server; several may be under way at once. `call` gets the header to send along. */
  async call<T>(name: string, attributes: Attributes, call: (traceParent: string) => Promise<T>): Promise<T> {
    if (++this.#spans > MAX_SPANS) return call(traceParentOf(this.#current));
    const span = this.#begin(name, this.#current, attributes);
    try {
      return await call(traceParentOf(span));
    } catch (error) {
      fail(span, error);
      throw error;
    } finally {
      span.end();
    }
  }

  /** The request has been answered. */
  end(attributes: Attributes): void {
    this.#root.setAttributes(attributes);
    this.#root.end();
  }
}

/** OpenTelemetry's code for an error. */
const ERROR = 2;
const MAX_MESSAGE = 256;

function fail(span: Span, error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  span.setStatus({ code: ERROR, message: message.slice(0, MAX_MESSAGE) });
}
