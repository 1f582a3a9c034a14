/** @type {import('jest').Config} */
module.exports = {
  testEnvironment: 'node',
  testSequencer: '<rootDir>/test/sequencer.js',
  roots: ['<rootDir>/src', '<rootDir>/test'],
  testMatch: ['**/*.test.ts'],
  // A loaded machine is slow, not wrong: speed is measured in benchmarks/, never asserted here.
  testTimeout: 60_000,
  transform: {
    '^.+\\.(t|j)s$': [
      '@swc/jest',
      {
        // Beside the code instead of in it, where they would be most of what each test file has V8 read.
        sourceMaps: true,
        jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
        module: { type: 'commonjs' },
      },
    ],
  },
  transformIgnorePatterns: ['/node_modules/(?!(@kubernetes/client-node|jose|openid-client|oauth4webapi)/)'],
};
