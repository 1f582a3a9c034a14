#!/usr/bin/env node
/**
 * Puts the command and the packages that it uses into one file, `dist/cli/main.js`: finding, reading and compiling a
 * thousand modules is a sixth of a start. The library (`dist/index.js`) stays as the compiler left it. `--out FILE` writes
 * elsewhere below the repository (for tests).
 */
const path = require('node:path');
const { buildSync } = require('esbuild');

const repository = path.resolve(__dirname, '..');
const [, , flag, file] = process.argv;

buildSync({
  absWorkingDir: repository,
  entryPoints: ['src/cli/main.ts'],
  outfile: flag === '--out' && file ? file : 'dist/cli/main.js',
  allowOverwrite: true,
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'cjs',
  tsconfig: 'tsconfig.build.json',
  // It finds its binary beside itself.
  external: ['lmdb'],
  // For those who run it with --enable-source-maps.
  sourcemap: true,
  sourcesContent: false,
  legalComments: 'none',
  logLevel: 'warning',
});
