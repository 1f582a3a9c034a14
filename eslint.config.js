const js = require('@eslint/js');
const tseslint = require('typescript-eslint');
const importX = require('eslint-plugin-import-x');

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

const zones = Object.entries({ ...floors, ...rooms }).map(([folder, allowed]) => ({
  target: `./src/${folder}`,
  from: './src',
  except: [...new Set([folder, ...allowed])].map((name) => `./${name}`),
  message: `src/${folder} may import only from itself${allowed.length > 0 ? ` and from ${allowed.join(', ')}` : ''} (docs/architecture.md)`,
}));

module.exports = tseslint.config(
  {
    ignores: [
      'dist',
      'generated',
      'src/api/schema/generated',
      'src/api/steps/generated',
      'src/flags/generated',
      'node_modules',
      'coverage',
    ],
  },
  js.configs.recommended,
  {
    files: ['**/*.ts'],
    extends: [...tseslint.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: { project: './tsconfig.json', tsconfigRootDir: __dirname } },
    plugins: { 'import-x': importX },
    settings: {
      'import-x/extensions': ['.ts'],
      'import-x/parsers': { '@typescript-eslint/parser': ['.ts'] },
      'import-x/resolver-next': [importX.createNodeResolver({ extensions: ['.ts', '.js'] })],
    },
    rules: {
      'import-x/no-cycle': 'error',
      'import-x/no-restricted-paths': ['error', { zones, basePath: __dirname }],
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
    },
  },
  {
    files: ['**/*.js'],
    languageOptions: { sourceType: 'commonjs', globals: { ...require('globals').node } },
  },
  {
    files: ['examples/**/*.{js,mjs}'],
    languageOptions: { globals: { ...require('globals').node, ...require('globals').jest } },
  },
  {
    // What an expression throws is caught by its own conditions, thousands of times: it carries no stack.
    files: ['src/api/cel/**/*.ts', 'src/admission/policies/*.ts'],
    rules: { '@typescript-eslint/only-throw-error': 'off' },
  },
  {
    files: ['**/*.test.ts', 'test/**/*.ts'],
    rules: { '@typescript-eslint/no-unsafe-assignment': 'off', '@typescript-eslint/no-unsafe-member-access': 'off' },
  },
);
