import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from '../support/free-ports';
import { HttpClient } from './support/http-client';
import { patiently } from './support/patiently';
import { credentialsOf, ServerProcess } from './support/server-process';

const QUOTA_BYTES = 16 * 1024 * 1024;
const MAPS = '/api/v1/namespaces/default/configmaps';
const BYTES_PER_MAP = 200_000;
const CLIENT_TIMEOUT_MS = 30_000;

const map = (name: string, bytes: number): object => ({ metadata: { name }, data: { text: 'x'.repeat(bytes) } });

describe('an embedded store whose quota is used up', () => {
  let folder: string;
  let server: ServerProcess;
  let http: HttpClient;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sternpost-quota-'));
    const [port] = await freePorts(1);
    const flags = [`--quota-backend-bytes=${QUOTA_BYTES}`, '--advertise-address=127.0.0.1'];
    server = new ServerProcess({ dataDir: folder, port: port!, flags });
    await server.start();
    http = new HttpClient(port!, credentialsOf(folder), CLIENT_TIMEOUT_MS);
  }, 60_000);

  afterAll(async () => {
    (http as HttpClient | undefined)?.[Symbol.dispose]();
    await server.kill();
    await rm(folder, { recursive: true });
  });

  /** Creates large objects until one is refused; returns the names of the others. */
  async function fill(prefix: string): Promise<readonly string[]> {
    for (const names: string[] = []; ;) {
      const name = `${prefix}-${names.length}`;
      const { status, body } = await http.send('POST', MAPS, map(name, BYTES_PER_MAP));
      if (status === 201) names.push(name);
      else {
        // As kube-apiserver hands on what etcd says: no reason.
        expect({ status, message: body.message, reason: body.reason, code: body.code }).toEqual({
          status: 500,
          message: 'etcdserver: mvcc: database space exceeded',
          reason: undefined,
          code: 500,
        });
        return names;
      }
    }
  }

  it('refuses writes as etcd does, reads, deletes, says that it is not ready, and recovers by itself', async () => {
    const names = await fill('first');
    expect(names.length).toBeGreaterThan(60);
    expect(names.length).toBeLessThan(QUOTA_BYTES / BYTES_PER_MAP);
    expect((await http.send('PUT', `${MAPS}/${names[0]}`, map(names[0]!, 10))).status).toBe(500);
    expect((await http.send('GET', MAPS)).body.items).toHaveLength(names.length);
    await patiently(async () => {
      if (await server.isReady()) throw new Error('still ready');
    });
    expect(await server.check('/readyz')).toMatchObject({
      status: 500,
      text: expect.stringContaining('[-]storage-space failed: reason withheld'),
    });
    expect(await server.probe('/livez')).toBe(200);
    const metrics = await http.text('/metrics');
    expect(metrics).toContain(`etcd_server_quota_backend_bytes{endpoint="${folder}/registry.mdb"} ${QUOTA_BYTES}`);
    expect(metrics).toMatch(/etcd_mvcc_db_total_size_in_use_in_bytes{endpoint="[^"]*"} 1[456]\d{6}\n/);
    expect(server.log.match(/the quota of 16 MiB is used up.*writes are refused/g)).toHaveLength(1);
    expect(server.log).not.toContain('a request failed');

    for (const name of names.slice(1)) expect((await http.send('DELETE', `${MAPS}/${name}`)).status).toBe(200);
    // What was deleted is history for some seconds.
    await patiently(async () => {
      const { status } = await http.send('POST', MAPS, map('after', 10));
      if (status !== 201) throw new Error(`still ${status}`);
    });
    await patiently(async () => {
      if (!(await server.isReady())) throw new Error('still not ready');
    });
    expect(server.log).toContain('there is space again');
  }, 120_000);

  it('starts and serves all the same', async () => {
    const names = await fill('second');
    expect(await server.kill('SIGTERM')).toBe(0);
    await server.start();
    expect((await http.send('POST', MAPS, map('another', BYTES_PER_MAP))).status).toBe(500);
    // Probes that come soon after each other share an answer.
    await patiently(async () => {
      const { text } = await server.check('/readyz');
      if (!text.includes('[-]storage-space')) throw new Error(`still ${text}`);
    });
    expect((await http.send('GET', `${MAPS}/${names[0]}`)).status).toBe(200);
    expect((await http.send('DELETE', `${MAPS}/${names[0]}`)).status).toBe(200);
  }, 90_000);
});
