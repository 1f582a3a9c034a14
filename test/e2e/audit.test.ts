import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startApiServer } from '../../src';
import { RawClient } from '../support/raw-client';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'audit-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function flagsWith(policy: object): Record<string, string> {
  const file = join(folder, 'policy.yaml');
  writeFileSync(file, JSON.stringify({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', ...policy }));
  return { 'audit-policy-file': file, 'audit-log-path': join(folder, 'audit.log') };
}

it.each(['blocking', 'blocking-strict', 'batch'])(
  'what the policy asks for is in the file when the server has ended: mode %s',
  async (mode) => {
    const rules = [{ level: 'Metadata', resources: [{ group: '', resources: ['secrets'] }] }];
    const server = await startApiServer({ flags: { ...flagsWith({ rules }), 'audit-log-mode': mode } });
    const client = new RawClient(server);
    const secret = { metadata: { name: 'a' }, stringData: { password: 'hidden-word' } };
    const { status } = await client.send('POST', '/api/v1/namespaces/default/secrets', JSON.stringify(secret));
    expect(status).toBe(201);
    client.close();
    await server.stop();
    const text = readFileSync(join(folder, 'audit.log'), 'utf8');
    const events = text
      .trimEnd()
      .split('\n')
      .map(
        (line) => JSON.parse(line) as { stage: string; auditID: string; verb: string; objectRef: { name?: string } },
      );
    // Controllers create others meanwhile.
    const created = events.find(({ verb, objectRef }) => verb === 'create' && objectRef.name === 'a');
    const own = events.filter(({ auditID }) => auditID === created?.auditID);
    expect(own.map(({ stage }) => stage)).toEqual(['RequestReceived', 'ResponseComplete']);
    expect(text).not.toContain('hidden-word');
  },
  60_000,
);

it.each([
  ['', {}],
  [', also where its events go nowhere', { 'audit-log-path': '' }],
])(
  'a policy that is wrong stops the start%s',
  async (_where, more) => {
    const flags = { ...flagsWith({ rules: [{ level: 'Everything' }] }), ...more };
    await expect(startApiServer({ flags })).rejects.toThrow(
      'loading audit policy file: rules[0].level: Unsupported value: "Everything"',
    );
  },
  60_000,
);
