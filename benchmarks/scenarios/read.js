const { NAMESPACE, collectionPath } = require('./objects');

/** GET of one object among many, by 16 clients. */
const CONNECTIONS = 16;

function get(id, title, query) {
  const path = `${collectionPath(NAMESPACE)}/cm-0-{n}${query}`;
  return {
    id,
    title,
    unit: 'req/s',
    check: async ({ load, server }) => {
      const { status, body } = await load.once(server.target, { method: 'GET', path: path.replace('{n}', '7') });
      const object = status === 200 ? JSON.parse(body.toString('utf8')) : {};
      if (object.kind !== 'ConfigMap' || object.metadata.name !== 'cm-0-7' || !object.metadata.resourceVersion) {
        throw new Error(`GET answered ${status}, ${body.toString('utf8').slice(0, 200)}`);
      }
    },
    run: ({ measure, server, options }) =>
      measure({
        target: server.target,
        request: { method: 'GET', path },
        numbers: Math.max(1, Math.floor(options.objects / 10)),
        connections: CONNECTIONS,
        warmUpMs: options.warmUpMs,
        maxMs: options.seconds * 1000,
        status: 200,
      }),
  };
}

module.exports = [
  get('get-consistent', 'GET consistent, 16 clients', ''),
  get('get-rv0', 'GET resourceVersion=0, 16 clients', '?resourceVersion=0'),
];
