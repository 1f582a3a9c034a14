import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Flag, FrameType, PREFACE } from '../../src/http2/frames';
import { frame } from '../../src/http2/wire.fixture';
import { responseOf } from '../support/http2-client';
import { ADMIN, AttackedServer, NOBODY, USER, type Books } from './support/attacked-server';
import { get, head, HELLO, post, settled, until } from './support/attackers';

/**
 * Attacks that a server has to live through, in small: the command with a heap of 256 MB, strangers and users that keep no
 * rules, and an honest client beside them. What is asserted are counts; how much memory and time they cost is printed.
 */

const MIB = 1024 * 1024;
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const REVIEWS = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
const LARGE_BYTES = 1_000_000;
const HALF_FRAME_BYTES = 250 * 1024;
const HALF_HEAD_BYTES = 120_000;
const HANDSHAKE_BYTES = 64 * 1024;

let server: AttackedServer;
let before: Books;

beforeAll(async () => {
  server = await AttackedServer.start();
  const data = { value: 'x'.repeat(LARGE_BYTES) };
  expect((await server.ask('POST', CONFIG_MAPS, { body: { metadata: { name: 'large' }, data } })).status).toBe(201);
}, 60_000);
afterAll(() => server.stop());

beforeEach(async () => {
  before = await server.books();
});
afterEach(async () => {
  await server.recover(expect.getState().currentTestName ?? '', before);
});

/** What the question itself may have the server hold. */
const OWN_REQUEST_BYTES = 32 * 1024;

const held = async (): Promise<number> => (await server.books()).heldBytes;

/** Others are served as if nothing were. */
async function expectService(): Promise<void> {
  const { status, body } = await server.ask('GET', `${CONFIG_MAPS}/large`);
  expect(status).toBe(200);
  expect(body.data.value).toHaveLength(LARGE_BYTES);
  expect((await server.honest.send('GET', '/readyz')).bytes.toString()).toBe('ok');
}

/** The books once they stay the same: a question that follows another at once may find the former answer in them. */
async function expectBounded(): Promise<Books> {
  let books = before;
  await settled(async () => {
    books = await server.books();
    return books.heldBytes;
  });
  expect(books.heldBytes).toBeLessThanOrEqual(books.limitBytes);
  await expectService();
  return books;
}

const each = (count: number, attack: (index: number) => Promise<unknown>): Promise<unknown> =>
  Promise.all(Array.from({ length: count }, (_, index) => attack(index)));

describe('strangers over HTTP/2', () => {
  it('have half a frame each, and those that have had it for longest are left', async () => {
    const half = Buffer.concat([HELLO, frame(0xff, 0, 0, Buffer.alloc(HALF_FRAME_BYTES)).subarray(0, -1)]);
    const connections = 350;
    for (let from = 0; from < connections; from += 50) await each(50, () => server.attackers.send('h2', half));
    const { dropped, limitBytes } = await expectBounded();
    const most = Math.ceil(limitBytes / (HALF_FRAME_BYTES - 16 * 1024));
    expect(dropped - before.dropped).toBeGreaterThanOrEqual(connections - most);
  });

  it('announce frames that they do not send', async () => {
    const announced = frame(0xff, 0, 0, Buffer.alloc(HALF_FRAME_BYTES)).subarray(0, 9);
    await each(100, () => server.attackers.send('h2', HELLO, announced));
    expect((await expectBounded()).heldBytes).toBeLessThanOrEqual(OWN_REQUEST_BYTES);
    expect(server.attackers.open).toBe(100);
  });

  it('have half a block of headers each', async () => {
    const half = frame(FrameType.HEADERS, Flag.END_STREAM, 1, Buffer.alloc(100 * 1024));
    await each(100, () => server.attackers.send('h2', HELLO, half));
    const { heldBytes } = await expectBounded();
    expect(heldBytes).toBeGreaterThan(100 * 90 * 1024);
    expect(heldBytes).toBeLessThanOrEqual(100 * 100 * 1024);
  });

  it('refer to a long header again and again', async () => {
    const literal = (name: string, value: string): Buffer => {
      const length =
        value.length < 127 ? [value.length] : [127, ((value.length - 127) & 127) | 128, (value.length - 127) >> 7];
      return Buffer.concat([
        Buffer.from([0x40, name.length]),
        Buffer.from(name),
        Buffer.from(length),
        Buffer.from(value),
      ]);
    };
    const pseudo = Buffer.from([0x82, 0x84, 0x87]);
    const first = head(
      1,
      Buffer.concat([pseudo, literal(':authority', 'x'), literal('long', 'v'.repeat(3900))]),
      Flag.END_STREAM,
    );
    const newest = Buffer.alloc(250, 0x80 + 62);
    const bombs = Array.from({ length: 400 }, (_, index) =>
      head(2 * index + 3, Buffer.concat([pseudo, newest]), Flag.END_STREAM),
    );
    await each(4, () => server.attackers.send('h2', HELLO, first, ...bombs));
    expect((await expectBounded()).heldBytes).toBeLessThan(4 * MIB);
  });

  it('leave their bodies half sent', async () => {
    for (let count = 0; count < 10; count++) {
      const session = await server.attackers.session();
      for (let streams = 0; streams < 8; streams++) {
        const stream = session.request({
          ':method': 'POST',
          ':path': CONFIG_MAPS,
          authorization: `Bearer ${USER}`,
          'content-type': 'application/json',
          'content-length': '3000000',
        });
        stream.on('error', () => undefined);
        stream.write(Buffer.alloc(2_900_000, ' '));
      }
    }
    await expectBounded();
  });
});

describe('strangers over HTTP/1.1', () => {
  it('send headers without end', async () => {
    const sockets = Array.from({ length: 20 }, () =>
      server.attackers.send('http/1.1', `GET / HTTP/1.1\r\nHost: x\r\nLong: ${'x'.repeat(200_000)}`),
    );
    const responses = await Promise.all(
      sockets.map(async (connecting) => {
        const socket = await connecting;
        let text = '';
        socket.on('data', (piece) => (text += String(piece))).resume();
        await once(socket, 'close');
        return text.slice(0, 12);
      }),
    );
    expect(new Set(responses)).toEqual(new Set(['HTTP/1.1 431']));
    await expectBounded();
  });

  it('have half a head each, and those that have had it for longest are left', async () => {
    const halfHead = `GET / HTTP/1.1\r\nHost: x\r\nLong: ${'x'.repeat(HALF_HEAD_BYTES)}`;
    const connections = 700;
    for (let from = 0; from < connections; from += 50)
      await each(50, () => server.attackers.send('http/1.1', halfHead));
    const most = Math.ceil((await server.books()).limitBytes / HALF_HEAD_BYTES);
    await until(async () => (await server.books()).dropped - before.dropped >= connections - most);
    await expectBounded();
  });

  it('begin handshakes and do not go on', async () => {
    const count = 200;
    const sockets: Socket[] = [];
    await each(count, async () => void sockets.push(await server.attackers.silent()));
    // The beginning of a TLS record.
    for (const socket of sockets) socket.write(Buffer.from([0x16, 3, 1, 2]));
    await until(async () => (await held()) >= count * HANDSHAKE_BYTES);
    await expectBounded();
  });

  it('open connections and do not speak', async () => {
    await each(300, () => server.attackers.silent());
    await each(100, () => server.attackers.send('h2'));
    await each(100, () => server.attackers.send('h2', PREFACE.subarray(0, 10)));
    expect((await expectBounded()).heldBytes).toBeLessThanOrEqual(OWN_REQUEST_BYTES);
  });

  it('leave their bodies half sent', async () => {
    await each(100, () =>
      server.attackers.send('http/1.1', post(REVIEWS, NOBODY, 120_000), Buffer.alloc(110_000, ' ')),
    );
    await expectBounded();
  });

  it('storm /readyz', async () => {
    const probe = 'GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n';
    const sockets = Array.from({ length: 10 }, async () => {
      const socket = await server.attackers.send('http/1.1', probe.repeat(500));
      let text = '';
      socket.on('data', (piece) => (text += String(piece))).resume();
      await until(() => text.split('HTTP/1.1 200').length === 501);
    });
    await Promise.all(sockets);
    await expectBounded();
  });
});

describe('YAML of somebody without rights', () => {
  const times = (text: string, bytes: number): string => text.repeat(bytes / text.length);

  it.each([
    ['flow lists', (size: number) => `zzz: [${times('[],', size)}[]]\n`],
    ['flow maps', (size: number) => `zzz: [${times('{},', size)}{}]\n`],
    ['pairs', (size: number) => `zzz: [${times('a: b, ', size)}a: b]\n`],
    ['explicit keys', (size: number) => times('? \n', size)],
    ['items', (size: number) => `zzz:\n${times('- \n', size)}`],
    ['lines', (size: number) => times('a\n', size)],
    ['anchors', (size: number) => `zzz: [${times('&a x,', size)}x]\n`],
    [
      'nested aliases',
      () =>
        'abcdefg'
          .split('')
          .map(
            (name, index, all) =>
              `${name}: &${name} [${times(`${index === 0 ? 'x' : `*${all[index - 1]}`},`, index === 0 ? 20 : 30)}x]\n`,
          )
          .join(''),
    ],
  ])('is refused, however much it is: %s', async (_shape, bomb) => {
    const send = async (path: string, size: number): Promise<number> => {
      const body = Buffer.from(bomb(size));
      const socket = await server.attackers.send('http/1.1', post(path, NOBODY, body.length, 'application/yaml'), body);
      const [response] = (await once(socket.resume(), 'data')) as [Buffer];
      return Number(response.toString('latin1', 9, 12));
    };
    // Not allowed to be read, too large to be read, and read.
    expect(await send(CONFIG_MAPS, 2_900_000)).toBe(403);
    expect([400, 413, 422]).toContain(await send(REVIEWS, 2_900_000));
    expect([400, 422]).toContain(await send(REVIEWS, 120_000));
    await expectBounded();
  });
});

describe('a user', () => {
  it('opens 1,000 watches, each of which is told what happens once', async () => {
    const path = `${CONFIG_MAPS}?watch=1&fieldSelector=metadata.name%3Dwatched`;
    const heard: string[] = [];
    const lines = (): number => heard.filter((text) => text.endsWith('\n')).length;
    await each(4, async () => {
      const session = await server.attackers.session();
      await each(250, async () => {
        const stream = session.request({ ':path': path, authorization: `Bearer ${USER}` });
        const which = heard.push('') - 1;
        stream.on('error', () => undefined).on('data', (piece) => (heard[which] += String(piece)));
        await once(stream, 'response');
      });
    });
    expect((await server.books()).watches - before.watches).toBe(1000);
    await server.ask('POST', CONFIG_MAPS, { body: { metadata: { name: 'watched' } } });
    await until(() => lines() === 1000);
    await expectBounded();
    expect(new Set(heard).size).toBe(1);
    expect(heard[0]?.split('\n')).toHaveLength(2);
  });

  it.each(['http/1.1', 'h2'] as const)('watches over %s and reads nothing of what happens', async (protocol) => {
    const path = `${CONFIG_MAPS}?watch=1`;
    await (protocol === 'h2'
      ? each(2, () => server.attackers.unread(path, 50, USER))
      : each(50, () => server.attackers.send('http/1.1', get(path, USER))));
    await until(async () => (await server.books()).watches - before.watches >= (protocol === 'h2' ? 100 : 50));
    for (let writes = 0; writes < 30; writes++) {
      const patch = { data: { value: String(writes % 10).repeat(300_000) } };
      const headers = { 'content-type': 'application/merge-patch+json' };
      await server.ask('PATCH', `${CONFIG_MAPS}/large`, { body: patch, headers });
    }
    await server.ask('PATCH', `${CONFIG_MAPS}/large`, {
      body: { data: { value: 'x'.repeat(LARGE_BYTES) } },
      headers: { 'content-type': 'application/merge-patch+json' },
    });
    await expectBounded();
  });

  it('sends 1,000 requests for a large object ahead and reads no answer', async () => {
    await server.attackers.send('http/1.1', get(`${CONFIG_MAPS}/large`, USER).repeat(1000));
    expect((await expectBounded()).heldBytes).toBeLessThan(4 * MIB);
  });

  it('asks for lists on 60 connections, ten on each, and reads no answer', async () => {
    await each(60, () => server.attackers.send('http/1.1', get('/api/v1/configmaps', USER).repeat(10)));
    await expectBounded();
  });
});

it('who takes answers is refused nothing beside others who take none, though memory is tight and it holds some', async () => {
  await each(60, () => server.attackers.unread(CONFIG_MAPS, 50, ADMIN));
  await settled(held);
  const headers = { authorization: `Bearer ${USER}` };
  const statuses: (number | undefined)[] = [];
  let mostHeld = 0;
  await each(10, async (worker) => {
    for (let round = 0; round < 6; round++) {
      const body = { metadata: { name: `written-${worker}-${round}` } };
      statuses.push((await server.honest.send('POST', CONFIG_MAPS, { headers, body })).status);
      const { status, bytes } = await server.honest.send('GET', CONFIG_MAPS, { headers });
      statuses.push(bytes.length > LARGE_BYTES ? status : undefined);
      mostHeld = Math.max(mostHeld, await held());
    }
  });
  const { limitBytes } = await server.books();
  expect(mostHeld).toBeGreaterThanOrEqual(0.75 * limitBytes);
  expect(statuses.filter((status) => status === 200)).toHaveLength(60);
  expect(statuses.filter((status) => status === 201)).toHaveLength(60);
});

describe('requests of many clients that are interleaved and given up at random', () => {
  const OBJECTS = 20;

  it('have the answers to themselves, and no others', async () => {
    await each(OBJECTS, (index) =>
      server.ask('POST', CONFIG_MAPS, {
        body: { metadata: { name: `mine-${index}` }, data: { v: `${index} `.repeat(3_000 * index) } },
      }),
    );
    const answered = { whole: 0, broken: 0 };
    await each(4, async (client) => {
      const session = await server.attackers.session();
      for (let round = 0; round < 10; round++) {
        await each(20, async (index) => {
          const which = (index * 7 + round * 3 + client) % OBJECTS;
          const stream = session.request({ ':path': `${CONFIG_MAPS}/mine-${which}`, authorization: `Bearer ${ADMIN}` });
          if ((index + round + client) % 3 === 0) void sleep((index * round) % 5).then(() => stream.close(8));
          try {
            const { status, body } = await responseOf(stream);
            if (body === undefined) throw new Error('cut off');
            expect([
              status,
              body.metadata.name,
              new Set(
                String(body.data.v ?? '')
                  .trim()
                  .split(' '),
              ).size,
            ]).toEqual([200, `mine-${which}`, 1]);
            expect(String(body.data.v ?? '').startsWith(which === 0 ? '' : `${which} `)).toBe(true);
            answered.whole++;
          } catch (error) {
            if (
              !/broke off|no answer|cut off/.test(String(error)) &&
              (error as NodeJS.ErrnoException).code !== 'ERR_HTTP2_STREAM_ERROR'
            )
              throw error;
            answered.broken++;
          }
        });
      }
    });
    expect(answered.whole).toBeGreaterThanOrEqual(500);
    expect(answered.whole + answered.broken).toBe(800);
    await expectService();
  });
});
