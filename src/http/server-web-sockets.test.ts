import { request as httpRequest, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocket, type ClientOptions } from 'ws';
import { servedOverHttp } from '../../test/support/served-over-http';

const { send, port } = servedOverHttp();

const path = '/api/v1/namespaces/sockets/configmaps';
const ORIGIN = { origin: 'https://page.example' };

interface Seen {
  readonly webSocket: WebSocket;
  readonly texts: string[];
  readonly binary: boolean[];
  /** The close code. */
  readonly closed: Promise<number>;
}

function watch(query: string, options: ClientOptions = ORIGIN, protocols: string[] = []): Seen {
  const webSocket = new WebSocket(`ws://127.0.0.1:${port()}${path}?watch=1${query}`, protocols, options);
  const texts: string[] = [];
  const binary: boolean[] = [];
  webSocket.on('message', (message: Buffer, isBinary) => {
    texts.push(message.toString('latin1'));
    binary.push(isBinary);
  });
  const closed = new Promise<number>((resolve) => webSocket.on('close', resolve));
  return { webSocket, texts, binary, closed };
}

function opened({ webSocket }: Seen): Promise<void> {
  return new Promise((resolve, reject) => webSocket.on('open', resolve).on('error', reject));
}

/** The code with which a handshake is refused. */
function refused({ webSocket }: Seen): Promise<number> {
  return new Promise((resolve, reject) => {
    webSocket.on('unexpected-response', (request, response) => {
      resolve(response.statusCode ?? 0);
      request.destroy();
    });
    webSocket.on('open', () => reject(new Error('it was taken'))).on('error', () => undefined);
  });
}

async function until(condition: () => boolean): Promise<void> {
  for (const end = Date.now() + 10_000; !condition() && Date.now() < end;)
    await new Promise((done) => setTimeout(done, 5));
}

describe('a watch over WebSocket', () => {
  beforeAll(async () => {
    await send('POST', path, { body: { metadata: { name: 'first' }, data: { k: 'ü' } } });
  });

  it('has a message of text for each event', async () => {
    const seen = watch('');
    await opened(seen);
    await send('POST', path, { body: { metadata: { name: 'second' } } });
    await send('DELETE', `${path}/second`);
    await until(() => seen.texts.length === 3);
    const events = seen.texts.map(
      (text) => JSON.parse(text) as { type: string; object: { metadata: { name: string } } },
    );
    expect(events.map(({ type, object }) => `${type} ${object.metadata.name}`)).toEqual([
      'ADDED first',
      'ADDED second',
      'DELETED second',
    ]);
    expect(seen.binary).toEqual([false, false, false]);
    seen.webSocket.close();
    expect(await seen.closed).toBe(1005);
  });

  it('has binary messages for those who ask for Protobuf', async () => {
    const seen = watch('', { ...ORIGIN, headers: { accept: 'application/vnd.kubernetes.protobuf' } });
    await until(() => seen.texts.length === 1);
    expect(seen.binary).toEqual([true]);
    // A WatchEvent whose first field is its type, without a length before it.
    expect(seen.texts[0]?.slice(0, 7)).toBe('\n\x05ADDED');
    seen.webSocket.close();
    await seen.closed;
  });

  it('closes normally when its time is over', async () => {
    expect(await watch('&timeoutSeconds=1').closed).toBe(1000);
  });

  it('says in its last message why it cannot go on', async () => {
    const seen = watch('&resourceVersion=999999999&timeoutSeconds=1');
    await opened(seen).catch(() => undefined);
    expect([1000, 1006]).toContain(await seen.closed);
  });

  it('answers pings', async () => {
    const seen = watch('');
    await opened(seen);
    const answered = new Promise((resolve) => seen.webSocket.on('pong', (data) => resolve(String(data))));
    seen.webSocket.ping('are you there');
    expect(await answered).toBe('are you there');
    seen.webSocket.close();
    await seen.closed;
  });

  it('ends with the connection of a client that says more than it may', async () => {
    const seen = watch('');
    await opened(seen);
    seen.webSocket.send('x'.repeat(10_000));
    expect(await seen.closed).toBe(1009);
  });

  it('names a protocol that the client offers, and never its token', async () => {
    const token = `base64url.bearer.authorization.k8s.io.${Buffer.from('someone').toString('base64url')}`;
    const seen = watch('', ORIGIN, [token, 'base64.binary.k8s.io']);
    await opened(seen);
    expect(seen.webSocket.protocol).toBe('base64.binary.k8s.io');
    seen.webSocket.close();
    await seen.closed;
  });

  it('names the only protocol of a client that proves otherwise who it is', async () => {
    const token = `base64url.bearer.authorization.k8s.io.${Buffer.from('nobody').toString('base64url')}`;
    const seen = watch('', { ...ORIGIN, headers: { authorization: 'Bearer someone' } }, [token]);
    await opened(seen);
    expect(seen.webSocket.protocol).toBe(token);
    seen.webSocket.close();
    await seen.closed;
  });

  it('answers the close code of its client', async () => {
    const seen = watch('');
    await opened(seen);
    seen.webSocket.close(4000);
    expect(await seen.closed).toBe(4000);
  });

  it('is refused to who may not, by the token among the protocols', async () => {
    const tokenOf = (text: string): string =>
      `base64url.bearer.authorization.k8s.io.${Buffer.from(text).toString('base64url')}`;
    expect(await refused(watch('', ORIGIN, [tokenOf('nobody'), 'p']))).toBe(403);
    expect(await refused(watch('', ORIGIN, [tokenOf('wrong'), 'p']))).toBe(401);
  });

  it('is refused without an origin', async () => {
    expect(await refused(watch('', {}))).toBe(403);
  });

  it('is refused with options that no watch has', async () => {
    expect(await refused(watch('&resourceVersion=x'))).toBe(400);
  });
});

describe('a request that asks for another protocol where there is none', () => {
  const upgrade = { connection: 'Upgrade', upgrade: 'h2c' };

  function ask(method: string, to: string, body = ''): Promise<{ readonly status: number; readonly text: string }> {
    return new Promise((resolve, reject) => {
      const headers = { ...upgrade, 'content-length': Buffer.byteLength(body), 'content-type': 'application/json' };
      const request = httpRequest(
        { host: '127.0.0.1', port: port(), method, path: to, headers },
        (response: IncomingMessage) => {
          let text = '';
          response.on('data', (piece) => (text += String(piece)));
          response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
        },
      );
      request.on('upgrade', (_response, socket: Duplex) => {
        socket.destroy();
        reject(new Error('it was upgraded'));
      });
      request.on('error', reject).end(body);
    });
  }

  it('is answered like any other', async () => {
    expect(await ask('GET', '/healthz')).toEqual({ status: 200, text: 'ok' });
    expect(await ask('GET', `${path}/none`)).toMatchObject({ status: 404 });
  });

  it('may have a body', async () => {
    const object = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'upgraded' },
      data: { k: 'x'.repeat(100_000) },
    };
    expect(await ask('POST', path, JSON.stringify(object))).toMatchObject({ status: 201 });
  });
});
