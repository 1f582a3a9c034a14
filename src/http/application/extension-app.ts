/**
 * What a user of the library needs to know of Express's application, so that its types need no others. With `@types/express` installed the
 * function may ask for all of it: `extend: (app: import('express').Express) => ...`.
 */
export interface ExtensionApp {
  get: AddRoute;
  post: AddRoute;
  put: AddRoute;
  patch: AddRoute;
  delete: AddRoute;
  head: AddRoute;
  options: AddRoute;
  all: AddRoute;
  use: AddRoute & ((...handlers: readonly ExtensionHandler[]) => unknown);
}

export type AddRoute = (
  path: string | RegExp | readonly (string | RegExp)[],
  ...handlers: readonly ExtensionHandler[]
) => unknown;

/** What is thrown, or passed to `next`, is answered as a Status of code 500 and logged. */
export type ExtensionHandler = (
  request: ExtensionRequest,
  response: ExtensionResponse,
  next: (error?: unknown) => void,
) => unknown;

/** Who asks. */
export interface RequestUser {
  readonly name: string;
  /** Empty where authentication knows none. */
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

/** Express's request, and IncomingMessage of node:http. */
export interface ExtensionRequest {
  /** Who asks, as authentication and impersonation have found. */
  readonly user: RequestUser;
  readonly method: string;
  readonly url: string;
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  get(header: string): string | undefined;
  on(event: string, listener: (value: Uint8Array) => void): unknown;
}

/** Express's response, and ServerResponse of node:http. */
export interface ExtensionResponse {
  readonly headersSent: boolean;
  statusCode: number;
  status(code: number): this;
  set(header: string, value: string): this;
  type(type: string): this;
  json(body: unknown): this;
  send(body?: unknown): this;
  sendStatus(code: number): this;
  redirect(url: string): void;
  flushHeaders(): void;
  write(chunk: Uint8Array | string): boolean;
  end(chunk?: Uint8Array | string): unknown;
  on(event: string, listener: () => void): unknown;
}

/** A request of node:http, or of Express, that is handed to the API server. */
export interface HostRequest {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: object;
}

/** Its response. */
export interface HostResponse {
  readonly headersSent: boolean;
  end(): unknown;
}
