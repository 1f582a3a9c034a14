const js = require('@eslint/js');
const tseslint = require('typescript-eslint');
const importX = require('eslint-plugin-import-x');

/**
 * The floors of the house (docs/architecture.md): a folder may import from the folders named here and from itself.
 * `files`, `pki`, `observability` and `api` are open to all; neighbours on one floor do not know each other.
 */
const floors = {
  api: ['pki'],
  observability: ['event-loop'],
  files: [],
  pki: ['files'],
  memory: ['event-loop'],
  'event-loop': [],
  worker: ['api', 'event-loop'],
  http2: ['memory'],
  storage: ['api', 'event-loop', 'files', 'http2', 'memory', 'observability'],
  registry: ['api', 'event-loop', 'storage', 'observability'],
  authn: ['api', 'pki', 'observability'],
  authz: ['api', 'pki', 'observability'],
  admission: ['api', 'pki', 'observability'],
  audit: ['api', 'pki', 'observability'],
  flowcontrol: ['api', 'pki', 'observability'],
  client: ['api', 'pki', 'observability'],
  kubelet: ['api', 'client', 'pki', 'observability'],
  streams: ['memory'],
  controllers: ['api', 'client', 'pki', 'observability'],
  http: [
    'api',
    'event-loop',
    'worker',
    'http2',
    'memory',
    'storage',
    'registry',
    'authn',
    'authz',
    'admission',
    'audit',
    'flowcontrol',
    'kubelet',
    'streams',
    'pki',
    'observability',
  ],
};

const zones = Object.entries(floors).map(([folder, allowed]) => ({
  target: `./src/${folder}`,
  from: './src',
  except: [folder, ...allowed].map((name) => `./${name}`),
  message: `src/${folder} may import only from itself${allowed.length > 0 ? ` and from ${allowed.join(', ')}` : ''} (docs/architecture.md)`,
}));

module.exports = tseslint.config(
  {
    ignores: [
      'dist',
      'generated',
      'src/api/schema/generated',
      'src/api/steps/generated',
      'src/cli/generated',
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
    settings: { 'import-x/resolver': { node: { extensions: ['.ts', '.js'] } } },
    rules: {
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
    files: ['**/*.test.ts', 'test/**/*.ts'],
    rules: { '@typescript-eslint/no-unsafe-assignment': 'off', '@typescript-eslint/no-unsafe-member-access': 'off' },
  },
);
