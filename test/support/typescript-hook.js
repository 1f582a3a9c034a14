// Lets a child process of a test require TypeScript files: `node -r ./test/support/typescript-hook.js child.js`.
const { readFileSync } = require('node:fs');
const { sep } = require('node:path');
const { transformSync } = require('@swc/core');

/** A package that is there as ES modules only; the built command has it inside. */
const MODULES_ONLY = `${sep}node_modules${sep}jose${sep}`;

function compile(module, filename, syntax) {
  const { code } = transformSync(readFileSync(filename, 'utf8'), {
    filename,
    jsc: { parser: { syntax }, target: 'es2022' },
    module: { type: 'commonjs' },
    sourceMaps: 'inline',
  });
  module._compile(code, filename);
}

const requireJavaScript = require.extensions['.js'];
require.extensions['.ts'] = (module, filename) => compile(module, filename, 'typescript');
require.extensions['.js'] = (module, filename) =>
  filename.includes(MODULES_ONLY) ? compile(module, filename, 'ecmascript') : requireJavaScript(module, filename);
