import { Agent, request as httpsRequest } from 'node:https';
import type { IncomingMessage } from 'node:http';
import type { Credentials } from './server-process';

export interface Response {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: Json;
}

/** What the tests look at in an object, a list or a Status; each has only some of it. */
export interface Json {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly continue?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly data?: Readonly<Record<string, string>>;
  readonly items: readonly Json[];
  readonly code?: number;
  readonly reason?: string;
  readonly message?: string;
  readonly details?: { readonly uid?: string };
  readonly subsets?: readonly { readonly addresses: readonly { readonly ip: string }[] }[];
  readonly endpoints?: readonly { readonly addresses: readonly string[] }[];
}

/** One line of a watch; a Status alone when the watch was refused. */
export interface WireEvent extends Partial<Omit<Json, 'metadata'>> {
  readonly type?: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  readonly object: Json;
}

const TIMEOUT_MS = 5_000;

/** Requests of one client over connections that are kept; an answer that takes too long rejects. */
export class HttpClient implements Disposable {
  private readonly agent: Agent;

  constructor(
    readonly port: number,
    credentials: Credentials,
    /** For a whole answer. */
    private readonly timeoutMs = TIMEOUT_MS,
  ) {
    this.agent = new Agent({ ...credentials, keepAlive: true });
  }

  async send(method: string, path: string, body?: object, contentType = 'application/json'): Promise<Response> {
    const signal = AbortSignal.timeout(this.timeoutMs);
    const response = await this.open(method, path, signal, body, contentType);
    const text = await textOf(response);
    return { status: response.statusCode ?? 0, headers: response.headers, body: JSON.parse(text) as Json };
  }

  /** What a GET is answered with, whatever it is. */
  async text(path: string): Promise<string> {
    return textOf(await this.open('GET', path, AbortSignal.timeout(TIMEOUT_MS)));
  }

  /** The lines of a stream, each parsed, until the stream ends or the signal aborts; rejects when it breaks. */
  async *lines(path: string, signal: AbortSignal): AsyncGenerator<WireEvent> {
    const response = await this.open('GET', path, signal);
    let rest = '';
    response.setEncoding('utf8');
    for await (const chunk of response) {
      const lines = (rest + (chunk as string)).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) yield JSON.parse(line) as WireEvent;
    }
    if (response.statusCode !== 200) yield JSON.parse(rest) as WireEvent;
  }

  [Symbol.dispose](): void {
    this.agent.destroy();
  }

  private open(
    method: string,
    path: string,
    signal: AbortSignal,
    body?: object,
    contentType = 'application/json',
  ): Promise<IncomingMessage> {
    const payload = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    const headers = {
      Accept: 'application/json',
      ...(payload && { 'Content-Type': contentType, 'Content-Length': payload.length }),
    };
    return new Promise((resolve, reject) => {
      const request = httpsRequest(
        { host: '127.0.0.1', port: this.port, path, method, headers, agent: this.agent, signal },
        resolve,
      );
      request.on('error', reject);
      request.end(payload);
    });
  }
}

async function textOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
