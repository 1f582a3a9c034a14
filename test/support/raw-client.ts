import { Agent, request as httpsRequest } from 'node:https';
import { startApiServer, type ApiServer } from '../../src';
import type { KubeObject } from '../../src/api/object';
import { adminCredentials } from './admin-client';

export interface RawResponse {
  readonly status: number;
  /** The Warning header; empty when there is none. */
  readonly warning: string;
  /** The Audit-Id header: of the request's events, where there is an audit log. */
  readonly auditId: string;
  /** An object or a Status. */
  readonly body: KubeObject & { readonly code?: number; readonly message?: string };
}

/** Sends bodies of any media type, right or wrong, as one who may do all. */
export class RawClient {
  private readonly agent: Agent;

  constructor(private readonly server: ApiServer) {
    const { certificateAuthority: ca, clientCertificate: cert, clientKey: key } = adminCredentials(server);
    this.agent = new Agent({ keepAlive: true, maxSockets: 8, ca, cert, key });
  }

  async send(method: string, path: string, body?: string, contentType?: string): Promise<RawResponse> {
    const { text, ...response } = await this.sendText(method, path, body, contentType);
    return { ...response, body: JSON.parse(text) as RawResponse['body'] };
  }

  /** The body of the answer as it comes. */
  sendText(
    method: string,
    path: string,
    body?: string,
    contentType: string | null = 'application/json',
    accept = 'application/json',
  ): Promise<Omit<RawResponse, 'body'> & { readonly text: string }> {
    const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
    const type = contentType === null ? {} : { 'content-type': contentType };
    const options = { method, agent: this.agent, headers: { ...type, accept, ...length } };
    return new Promise((resolve, reject) => {
      const request = httpsRequest(new URL(path, this.server.url), options, (response) => {
        let text = '';
        response.on('data', (piece) => (text += String(piece)));
        // It has ended before it was whole.
        response.on('error', reject);
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            warning: String(response.headers.warning ?? ''),
            auditId: String(response.headers['audit-id'] ?? ''),
            text,
          }),
        );
      });
      request.on('error', reject);
      request.end(body);
    });
  }

  close(): void {
    this.agent.destroy();
  }
}

/** A server of its own for the tests of a file, and a client of it, from the first hook of the file on. */
export function clientOfOwnServer(): Pick<RawClient, 'send' | 'sendText'> {
  let server: ApiServer;
  let client: RawClient;
  beforeAll(async () => {
    server = await startApiServer();
    client = new RawClient(server);
  }, 30_000);
  afterAll(async () => {
    client.close();
    await server.stop();
  });
  return {
    send: (...request) => client.send(...request),
    sendText: (...request) => client.sendText(...request),
  };
}
