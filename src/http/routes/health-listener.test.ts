import type { HealthCheck } from './health';
import { listenForProbes, type HealthListener } from './health-listener';

let etcdIsThere = true;
let isStopping = false;
const etcd: HealthCheck = {
  name: 'etcd',
  check: () => {
    if (!etcdIsThere) throw new Error('10.1.2.3 does not answer');
  },
};
const ping: HealthCheck = { name: 'ping', check: () => undefined };
const shutdown: HealthCheck = {
  name: 'shutdown',
  check: async () => {
    if (isStopping) throw new Error('it ends');
  },
};

let listener: HealthListener;
beforeEach(async () => {
  etcdIsThere = true;
  isStopping = false;
  const checks = { livez: [ping, etcd], readyz: [ping, etcd, shutdown], healthz: [ping, etcd] };
  listener = await listenForProbes({ host: '127.0.0.1', port: 0 }, checks);
});
afterEach(() => listener.close());

async function ask(path: string, init: RequestInit = {}): Promise<{ readonly status: number; readonly text: string }> {
  const response = await fetch(`http://127.0.0.1:${listener.port}${path}`, init);
  return { status: response.status, text: await response.text() };
}

describe('the port of health checks', () => {
  it('answers without credentials', async () => {
    for (const path of ['/livez', '/readyz', '/healthz']) expect(await ask(path)).toEqual({ status: 200, text: 'ok' });
  });

  it('says that a server without etcd lives, and is not ready', async () => {
    etcdIsThere = false;
    expect(await ask('/livez')).toEqual({ status: 200, text: 'ok' });
    const { status, text } = await ask('/readyz');
    expect(status).toBe(500);
    expect(text).toContain('[-]etcd failed: reason withheld');
    expect(text).not.toContain('10.1.2.3');
    expect((await ask('/readyz?exclude=etcd')).status).toBe(200);
  });

  it('is not ready while the server ends', async () => {
    isStopping = true;
    expect((await ask('/readyz')).status).toBe(500);
    expect((await ask('/livez')).status).toBe(200);
  });

  it('lists the checks when it is asked to', async () => {
    expect((await ask('/readyz?verbose')).text).toBe('[+]ping ok\n[+]etcd ok\n[+]shutdown ok\nreadyz check passed\n');
  });

  it('serves nothing else', async () => {
    expect((await ask('/metrics')).status).toBe(404);
    expect((await ask('/api/v1/secrets')).status).toBe(404);
    expect((await ask('/livez/ping')).status).toBe(404);
    expect((await ask('/livez', { method: 'POST' })).status).toBe(405);
  });

  it('serves metrics where it is given them', async () => {
    const none = { livez: [], readyz: [], healthz: [] };
    const other = await listenForProbes({ host: '127.0.0.1', port: 0 }, none, () =>
      Promise.resolve(Buffer.from('depth 1\n')),
    );
    try {
      const response = await fetch(`http://127.0.0.1:${other.port}/metrics`);
      expect({ status: response.status, text: await response.text() }).toEqual({ status: 200, text: 'depth 1\n' });
    } finally {
      await other.close();
    }
  });

  it('says which flag names a port that is taken', async () => {
    const second = listenForProbes({ host: '127.0.0.1', port: listener.port }, { livez: [], readyz: [], healthz: [] });
    await expect(second).rejects.toThrow(/EADDRINUSE.*--healthz-bind-address/);
  });
});
