/**
 * Keeps what V8 compiles for a start of the command (`dist/cli/main.js`, or the file that is named) beside its code: compiling
 * is a fifth of a start. For images and check-outs, whose Node.js is the one that built them; the package goes without.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { buildSync } from 'esbuild';

const LIMIT_MS = 60_000;

async function main([command = path.resolve(__dirname, '../dist/cli/main.js')]: readonly string[]): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'sternpost-compile-'));
  // The command is to run as it always does: without what runs TypeScript.
  const hook = path.join(folder, 'keep-compiled-code.js');
  buildSync({
    entryPoints: [path.join(__dirname, 'keep-compiled-code.ts')],
    outfile: hook,
    platform: 'node',
    format: 'cjs',
  });
  const args = ['--data-dir', folder, '--bind-address', '127.0.0.1', '--secure-port', '0'];
  const child = spawn(process.execPath, ['--require', hook, command, 'dev', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let log = '';
  child.stderr.on('data', (chunk: Buffer) => (log += chunk.toString('utf8')));
  const limit = setTimeout(() => child.kill('SIGKILL'), LIMIT_MS);
  try {
    // It prints its address when it is ready.
    child.stdout.once('data', () => child.kill('SIGTERM'));
    const code = await new Promise<number | null>((resolve, reject) =>
      child.once('exit', resolve).once('error', reject),
    );
    if (code !== 0) throw new Error(`${command} ended with ${code}: ${log}`);
  } finally {
    clearTimeout(limit);
    rmSync(folder, { recursive: true, force: true });
  }
}

main(process.argv.slice(2)).catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
