// Lets a child process require TypeScript files in which spreads are loops: the coverage of V8 counts how often a loop turns,
// and sees nothing of what its own spread copies.
const { readFileSync } = require('node:fs');
const { transformSync } = require('@swc/core');

require.extensions['.ts'] = (module, filename) => {
  const { code } = transformSync(readFileSync(filename, 'utf8'), {
    filename,
    jsc: { parser: { syntax: 'typescript' } },
    env: { targets: { node: '20' }, include: ['transform-spread', 'transform-object-rest-spread'] },
    module: { type: 'commonjs' },
  });
  module._compile(code, filename);
};
