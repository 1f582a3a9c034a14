const { NAMESPACE, SCALE_NAMESPACE, collectionPath } = require('./objects');
const { HOG_TOKEN } = require('../servers/credentials');
const { JSON_BODY, fill } = require('./setup');

/** Of the client that takes all it can get. */
const CONNECTIONS = 200;
const OBJECTS = 10_000;
/** How long the others go on beside it; it begins before them and ends after them. */
const BESIDE_MS = 1_000;
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
const PATCH = { 'Content-Type': 'application/merge-patch+json' };

/** The slowest hundredth of some requests, while another user lists everything over many connections as fast as it can. */
const besideLists = (id, title, requestOf) => ({
  id: `overload-${id}`,
  title: `${title}, p99 while ${CONNECTIONS} connections list ${OBJECTS} objects`,
  unit: 'ms',
  better: 'lower',
  run: async ({ load, listLoad, server, options }) => {
    const count = Math.min(OBJECTS, options.scaleObjects);
    await fill({ load, server, namespace: SCALE_NAMESPACE, count, bytes: options.bytes });
    const { target = server.target, ...request } = await requestOf({ load, server });
    const lists = listLoad.run({
      target: { ...server.target, token: HOG_TOKEN },
      request: { method: 'GET', path: `${collectionPath(SCALE_NAMESPACE)}?resourceVersion=0` },
      clients: CONNECTIONS,
      maxMs: options.seconds * 1000 + 2 * BESIDE_MS,
      // It may be told to come again.
      status: [200, 429],
    });
    await new Promise((resolve) => setTimeout(resolve, BESIDE_MS));
    const [beside, listed] = await Promise.all([
      load.run({ target, request, clients: 4, maxMs: options.seconds * 1000, status: 200 }),
      lists,
    ]);
    process.stderr.write(`  (${listed.perSecond.toFixed(1)} lists/s beside)\n`);
    return { value: beside.p99, p50: beside.p50, p99: beside.p99 };
  },
});

/** A node agent renews its lease. */
async function renewal({ load, server }) {
  const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'bench' } };
  const { status } = await load.once(server.admin, {
    method: 'POST',
    path: LEASES,
    headers: JSON_BODY,
    body: JSON.stringify(lease),
  });
  if (status !== 201 && status !== 409) throw new Error(`POST ${LEASES}: answered ${status}`);
  const body = JSON.stringify({ spec: { holderIdentity: 'bench', leaseDurationSeconds: 40 } });
  return { target: server.node, method: 'PATCH', path: `${LEASES}/bench`, headers: PATCH, body };
}

module.exports = [
  besideLists('get', 'GET of another user', () => ({
    method: 'GET',
    path: `${collectionPath(NAMESPACE)}/cm-0-1`,
  })),
  besideLists('lease', 'renewal of a lease', renewal),
  besideLists('health', '/readyz', () => ({ method: 'GET', path: '/readyz' })),
];
