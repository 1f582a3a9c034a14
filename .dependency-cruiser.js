const leaves = ['api', 'async', 'files', 'memory', 'pki', 'observability'];
const stores = [...leaves, 'http2', 'storage'];
const resources = [...stores, 'registry', 'resources'];
const policies = ['authn', 'authz', 'admission', 'audit', 'flowcontrol'];
const http = [...resources, ...policies, 'aggregator', 'kubelet', 'streams', 'worker'];

/** The floors of the house (docs/architecture.md): a folder may import from the folders named here and from itself. */
const floors = {
  api: ['pki'],
  async: [],
  files: [],
  memory: ['async'],
  pki: ['files'],
  observability: ['async'],
  worker: ['api', 'async'],
  http2: ['memory'],
  storage: [...leaves, 'http2'],
  registry: stores,
  resources: [...stores, 'registry'],
  authn: resources,
  authz: resources,
  admission: [...resources, 'authz'],
  audit: resources,
  flowcontrol: resources,
  client: [...leaves],
  kubelet: [...leaves, 'client'],
  aggregator: [...leaves, 'client', 'kubelet'],
  streams: ['memory'],
  controllers: [...leaves, 'client'],
  bootstrap: [...resources, 'authz', 'flowcontrol'],
  http,
  apiserver: [...http, 'http', 'bootstrap', 'client'],
  flags: [...http, 'http', 'apiserver', 'client', 'controllers'],
};

/** Rooms within a floor that know less than their floor does. */
const rooms = {
  'storage/etcd': [...leaves, 'http2', 'storage/store.ts', 'storage/metrics.ts'],
  'storage/etcd3': ['storage/store.ts', 'storage/etcd'],
  'storage/encryption': [
    ...leaves,
    'storage/store.ts',
    'storage/encrypted-prefix.ts',
    'storage/etcd',
    'storage/cache/load-state.ts',
  ],
  'storage/embedded': [...leaves, 'storage/store.ts', 'storage/metrics.ts'],
  'storage/cache': [...leaves, 'storage/store.ts', 'storage/encrypted-prefix.ts', 'storage/metrics.ts'],
};

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: Object.entries({ ...floors, ...rooms }).map(([folder, allowed]) => {
    const names = [folder, ...allowed].join('|').replaceAll('.', '\\.');
    return {
      name: `src/${folder}`,
      comment: `src/${folder} may import only from itself${allowed.length > 0 ? ` and from ${allowed.join(', ')}` : ''} (docs/architecture.md)`,
      severity: 'error',
      from: { path: `^src/${folder}/` },
      to: { path: '^src/', pathNot: `^src/(${names})(/|$)` },
    };
  }),
  options: {
    // Imports of types count too.
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
    includeOnly: '^src/',
    parser: 'swc',
  },
};
