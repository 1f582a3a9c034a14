import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below what systems give to the near end of connections (from 32768 on Linux, 49152 elsewhere): those come and go in between. */
const FIRST = 16_384;
const PAST = 32_768;

/** Ports of the loopback interface that nobody listens on at this moment, nor is given by the system for anything else. */
export async function freePorts(count: number): Promise<readonly number[]> {
  const ports = new Set<number>();
  while (ports.size < count) {
    const port = FIRST + Math.floor(Math.random() * (PAST - FIRST));
    if (!ports.has(port) && (await isFree(port))) ports.add(port);
  }
  return [...ports];
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening');
  } catch {
    return false;
  }
  await once(server.close(), 'close');
  return true;
}
