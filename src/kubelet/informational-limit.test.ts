import { once } from 'node:events';
import type { ClientRequest } from 'node:http';
import { request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createServer, type Server } from 'node:tls';
import { authority, tls } from '../../test/support/serving-keys';
import { askBackend } from './ask-backend';
import { BackendTransport } from '../client/backend-transport';
import { sendRequest } from '../client/https-request';
import { agentFor } from '../client/peer-tls';

const EARLY = 'HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n';
const ANSWER = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const never = new AbortController().signal;

/** How many heads without an answer come before it. */
let early: number;
let server: Server;
let port: number;

beforeAll(async () => {
  server = createServer({ key: tls.key, cert: tls.cert }, (socket) => {
    socket.on('error', () => undefined).on('data', () => socket.write(EARLY.repeat(early) + ANSWER));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  ({ port } = server.address() as AddressInfo);
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

const agent = agentFor({ certificateAuthority: authority.certificatePem });
const transport = new BackendTransport();
afterAll(() => {
  agent.destroy();
  transport.close();
});

const clients: Readonly<Record<string, () => Promise<string>>> = {
  'a webhook of authentication': async () => {
    const url = `https://localhost:${port}/`;
    return (await sendRequest({ url, method: 'GET', agent, timeoutMs: 60_000 })).body;
  },
  'an admission webhook': async () => {
    const backend = { origin: `https://localhost:${port}`, tls: { certificateAuthority: authority.certificatePem } };
    const call = { path: '/', method: 'GET', headers: {}, timeoutMs: 60_000, signal: never, maxBytes: 100 } as const;
    return (await transport.request(backend, call)).body.toString();
  },
  'another API server, or a kubelet': async () => {
    const open = (): ClientRequest => request({ host: 'localhost', port, agent });
    const backend = { host: 'localhost', port, scheme: 'https', trust: 'kubelet' } as const;
    const asked = { method: 'GET', path: '/', headers: {}, ownConnection: false };
    const outcome = await askBackend({ open }, backend, asked, never);
    const [body] = (await once(outcome.message, 'data')) as [Buffer];
    return body.toString();
  },
};

describe.each(Object.entries(clients))('%s', (_who, ask) => {
  it('may say a little before its answer', async () => {
    early = 5;
    expect(await ask()).toBe('ok');
  });

  it('is left when it does not come to its answer', async () => {
    early = 10_000;
    await expect(ask()).rejects.toThrow('net/http: too many 1xx informational responses');
  });
});
