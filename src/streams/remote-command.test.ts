import { EventEmitter, once } from 'node:events';
import type { Socket } from 'node:net';
import { SocketPairs } from '../../test/support/socket-pairs';
import { until } from '../../test/support/until';
import type { AcceptedWebSocket } from './accept-web-socket';
import { RemoteCommand, SPDY_PROTOCOLS } from './remote-command';
import { pingFrame } from './spdy-frames';

const NO_STREAMS = { stdin: false, stdout: true, stderr: false, tty: false };

let pairs: SocketPairs;
/** The two ends of the connection to the kubelet. */
let kubelet: Socket;
let near: Socket;

beforeEach(async () => {
  pairs = await SocketPairs.listen();
  [kubelet, near] = await pairs.pair();
  const [, socket] = await pairs.pair();
  const webSocket = Object.assign(new EventEmitter(), { send: ignore, resume: ignore, pause: ignore, close: ignore });
  const memory = { hold: ignore, release: ignore };
  const client = { webSocket, socket, memory } as unknown as AcceptedWebSocket;
  new RemoteCommand(client, near, SPDY_PROTOCOLS[0]!, NO_STREAMS).start(Buffer.alloc(0));
  // The frames that open its streams.
  await once(kubelet, 'data');
});

afterEach(() => pairs.close());

it('replies to the pings of a kubelet', async () => {
  kubelet.write(Buffer.concat([pingFrame(2), pingFrame(4)]));
  const replies: Buffer[] = [];
  kubelet.on('data', (reply: Buffer) => replies.push(reply));
  while (Buffer.concat(replies).length < 24) await once(kubelet, 'data');
  expect(Buffer.concat(replies)).toEqual(Buffer.concat([pingFrame(2), pingFrame(4)]));
});

it('leaves a kubelet that pings again and again and reads no reply', async () => {
  const pings = Buffer.concat(Array.from({ length: 5_000 }, () => pingFrame(2)));
  kubelet.pause();
  let most = 0;
  near.on('data', () => (most = Math.max(most, near.writableLength)));
  const send = (): void => {
    while (!kubelet.destroyed && kubelet.write(pings));
  };
  kubelet.on('drain', send);
  send();
  await until(
    async () => near.destroyed || most > 1024 * 1024,
    (isOver) => isOver,
  );
  expect(near.destroyed).toBe(true);
});

function ignore(): void {}
