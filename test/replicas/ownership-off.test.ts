import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from '../support/free-ports';
import { HttpClient } from './support/http-client';
import { credentialsOf, ServerProcess } from './support/server-process';

const QUOTAS = '/api/v1/namespaces/default/resourcequotas';
const hard = { configmaps: '5' };

let dataDir: string;

beforeAll(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'sternpost-ownership-'));
});

afterAll(() => {
  rmSync(dataDir, { recursive: true, force: true });
});

/** What the quota looks like after `act` on a server with these flags. */
async function quotaAfter(flags: readonly string[], act: (client: HttpClient) => Promise<void>): Promise<object> {
  const [port] = await freePorts(1);
  await using server = new ServerProcess({ dataDir, port: port!, flags });
  await server.start();
  using client = new HttpClient(port!, credentialsOf(dataDir));
  await act(client);
  const { body } = await client.send('GET', `${QUOTAS}/q`);
  await server.kill('SIGTERM');
  return body;
}

it('what the server writes by itself has no owners either while server-side apply is off', async () => {
  const owned = await quotaAfter([], async (client) => {
    await client.send('POST', QUOTAS, { metadata: { name: 'q' }, spec: { hard } });
    const status = { hard, used: { configmaps: '0' } };
    await client.send('PATCH', `${QUOTAS}/q/status`, { status }, 'application/merge-patch+json');
  });
  expect(owned).toMatchObject({ metadata: { managedFields: expect.any(Array) } });

  const unowned = await quotaAfter(['--feature-gates=ServerSideApply=false'], async (client) => {
    await client.send('POST', '/api/v1/namespaces/default/configmaps', { metadata: { name: 'counted' } });
  });
  expect(unowned).toMatchObject({ status: { used: { configmaps: '1' } } });
  expect(unowned).not.toHaveProperty('metadata.managedFields');
}, 60_000);
