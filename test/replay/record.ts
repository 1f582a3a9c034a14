/**
 * Records what a kube-apiserver answers to the scenarios, one file each, in `exchanges/`:
 *
 *   npx tsx test/replay/record.ts --server https://127.0.0.1:6443 --token TOKEN [SCENARIO ...]
 *
 * The token's user has to be in `system:masters`; the server serves 10.0.0.0/24 and runs beside no controllers.
 */
import { writeFileSync } from 'node:fs';
import { Agent, request as httpsRequest } from 'node:https';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { format, resolveConfig } from 'prettier';
import { play, type Response, type Send } from './player';
import { SCENARIOS } from './scenarios';

function sender(server: string, token: string): Send {
  const agent = new Agent({ keepAlive: true, rejectUnauthorized: false });
  return ({ method, path, body, contentType = 'application/json', accept = 'application/json' }) =>
    new Promise<Response>((resolve, reject) => {
      const headers = {
        authorization: `Bearer ${token}`,
        accept,
        ...(body === undefined ? {} : { 'content-type': contentType, 'content-length': Buffer.byteLength(body) }),
      };
      const request = httpsRequest(new URL(path, server), { method, agent, headers }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') }),
        );
      });
      request.on('error', reject);
      request.end(body);
    });
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    options: { server: { type: 'string' }, token: { type: 'string' } },
    allowPositionals: true,
  });
  const { server, token } = values;
  if (server === undefined || token === undefined) throw new Error('--server and --token are needed');
  const send = sender(server, token);
  for (const [name, steps] of Object.entries(SCENARIOS)) {
    if (positionals.length > 0 && !positionals.includes(name)) continue;
    const file = join(__dirname, 'exchanges', `${name}.json`);
    const text = JSON.stringify(await play(send, name, steps));
    writeFileSync(file, await format(text, { ...(await resolveConfig(file)), parser: 'json' }));
  }
}

main().then(
  () => process.exit(),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
