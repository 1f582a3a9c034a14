// What "helm test" runs, with nothing but Node: health, discovery, a ConfigMap's life with a watch on it, revisions that never go
// back, whichever replica answers, and metrics. The kubeconfig has its credentials embedded, or names their files by whole paths.
'use strict';
const { readFileSync } = require('node:fs');
const https = require('node:https');

const kubeconfig = readFileSync(process.env.KUBECONFIG, 'utf8');
const server = process.env.SERVER || field('server');
const authority = pem('certificate-authority');
const certificate = pem('client-certificate');
const key = pem('client-key');
const token = field('token');
const namespace = 'default';
const name = `sternpost-smoke-${Date.now().toString(36)}`;
const configMaps = `/api/v1/namespaces/${namespace}/configmaps`;

function field(fieldName) {
  const found = new RegExp(`^[ -]*${fieldName}: *(.+)$`, 'm').exec(kubeconfig);
  return found === null ? undefined : found[1].trim().replace(/^(["'])(.*)\1$/, '$2');
}

function pem(fieldName) {
  const embedded = field(`${fieldName}-data`);
  if (embedded !== undefined) return Buffer.from(embedded, 'base64').toString('utf8');
  const file = field(fieldName);
  return file === undefined ? undefined : readFileSync(file, 'utf8');
}

/** Each request has a connection of its own, so that a balancer may choose another replica. */
function open(method, path, body) {
  return new Promise((resolve, reject) => {
    const headers = { Accept: 'application/json' };
    if (token !== undefined) headers.Authorization = `Bearer ${token}`;
    if (body !== undefined) headers['Content-Type'] = 'application/json';
    const request = https.request(new URL(path, server), {
      method,
      headers,
      ca: authority,
      cert: certificate,
      key,
      agent: false,
      timeout: 15_000,
    });
    request.on('timeout', () => request.destroy(new Error(`${method} ${path}: no answer`)));
    request.on('error', reject);
    request.on('response', resolve);
    request.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

async function send(method, path, body) {
  const response = await open(method, path, body);
  let text = '';
  for await (const chunk of response) text += chunk;
  if (response.statusCode >= 300) throw new Error(`${method} ${path}: ${response.statusCode} ${text}`);
  return text;
}

async function untilSeen(events, types) {
  const seen = [];
  let buffered = '';
  for await (const chunk of events) {
    buffered += chunk;
    const lines = buffered.split('\n');
    buffered = lines.pop();
    seen.push(...lines.filter(Boolean).map((line) => JSON.parse(line).type));
    if (types.every((type) => seen.includes(type))) break;
  }
  events.destroy();
  if (types.join() !== seen.join()) throw new Error(`the watch saw ${seen.join(', ')}, not ${types.join(', ')}`);
}

const checks = {
  readiness: async () => console.log(await send('GET', '/readyz?verbose')),
  discovery: async () => {
    const { groups } = JSON.parse(await send('GET', '/apis'));
    if (!groups.some((group) => group.name === 'apps')) throw new Error('there is no group apps');
  },
  'create, watch, update, delete': async () => {
    const { resourceVersion } = JSON.parse(await send('GET', `${configMaps}?limit=1`)).metadata;
    const query = `watch=true&timeoutSeconds=30&resourceVersion=${resourceVersion}&fieldSelector=metadata.name%3D${name}`;
    const events = await open('GET', `${configMaps}?${query}`);
    if (events.statusCode !== 200) throw new Error(`the watch was answered ${events.statusCode}`);
    const seen = untilSeen(events, ['ADDED', 'MODIFIED', 'DELETED']);
    const made = JSON.parse(
      await send('POST', configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { step: '1' } }),
    );
    await send('PUT', `${configMaps}/${name}`, { ...made, data: { step: '2' } });
    await send('DELETE', `${configMaps}/${name}`);
    await seen;
  },
  'revisions never go back': async () => {
    let last = 0;
    for (let count = 0; count < 20; count++) {
      const revision = Number(JSON.parse(await send('GET', `${configMaps}?limit=1`)).metadata.resourceVersion);
      if (revision < last) throw new Error(`revision ${revision} was answered after ${last}`);
      last = revision;
    }
  },
  metrics: async () => {
    if (!(await send('GET', '/metrics')).includes('apiserver_request_total')) {
      throw new Error('apiserver_request_total is missing');
    }
  },
};

async function main() {
  for (const [title, check] of Object.entries(checks)) {
    await check();
    console.log(`ok: ${title}`);
  }
}

main().catch((error) => {
  console.error(`failed: ${error.message}`);
  process.exitCode = 1;
});
