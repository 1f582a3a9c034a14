#!/usr/bin/env node
/**
 * Keeps what V8 compiles for a start of the command (`dist/cli/main.js`, or the file that is named) beside its code: compiling
 * is a fifth of a start. For images and check-outs, whose Node.js is the one that built them; the package goes without.
 */
const { spawn } = require('node:child_process');
const { mkdtempSync, rmSync } = require('node:fs');
const { tmpdir } = require('node:os');
const path = require('node:path');

const LIMIT_MS = 60_000;

async function main([command = path.resolve(__dirname, '../dist/cli/main.js')]) {
  const folder = mkdtempSync(path.join(tmpdir(), 'sternpost-compile-'));
  const hook = path.join(__dirname, 'keep-compiled-code.js');
  const args = ['--data-dir', folder, '--bind-address', '127.0.0.1', '--secure-port', '0'];
  const child = spawn(process.execPath, ['--require', hook, command, 'dev', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let log = '';
  child.stderr.on('data', (chunk) => (log += chunk));
  const limit = setTimeout(() => child.kill('SIGKILL'), LIMIT_MS);
  try {
    // It prints its address when it is ready.
    child.stdout.once('data', () => child.kill('SIGTERM'));
    const code = await new Promise((resolve, reject) => child.once('exit', resolve).once('error', reject));
    if (code !== 0) throw new Error(`${command} ended with ${code}: ${log}`);
  } finally {
    clearTimeout(limit);
    rmSync(folder, { recursive: true, force: true });
  }
}

main(process.argv.slice(2)).catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
