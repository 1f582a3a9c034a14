import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describeWithEtcd, EtcdServer } from '../support/etcd-server';
import { freePorts } from '../support/free-ports';

/** The README's own lines, in a shell: only ports, and the sources in place of what is built, are others. */

const ROOT = resolve(__dirname, '../..');
const HOOK = join(ROOT, 'test/support/typescript-hook.js');
const MAIN = join(ROOT, 'src/cli/main.ts');

/** The indented lines of a section. */
function linesOf(section: string): string {
  const text = readFileSync(join(ROOT, 'README.md'), 'utf8').split(`## ${section}\n`)[1]?.split('\n## ')[0] ?? '';
  return text
    .split('\n')
    .filter((line) => line.startsWith('    '))
    .map((line) => line.slice(4))
    .join('\n');
}

function replaced(text: string, from: string, to: string): string {
  expect(text).toContain(from);
  return text.replaceAll(from, to);
}

function killGroup(id: number | undefined): void {
  try {
    if (id !== undefined) process.kill(-id, 'SIGKILL');
  } catch {
    // All have ended.
  }
}

describeWithEtcd('the README', () => {
  it('leads to a cluster with controllers, in which namespaces come and go', async () => {
    await using etcd = await EtcdServer.start();
    const [port = 0] = await freePorts(1);
    const folder = mkdtempSync(join(tmpdir(), 'sternpost-readme-'));
    let lines = linesOf('In a cluster');
    lines = replaced(lines, 'node dist/cli/main.js', `'${process.execPath}' -r '${HOOK}' '${MAIN}'`);
    lines = replaced(lines, 'http://127.0.0.1:2379', etcd.endpoint);
    lines = replaced(lines, '127.0.0.1:6443', `127.0.0.1:${port}`);
    const script = `set -e\n${lines}\nkubectl get namespaces --output name\nkill %1 %2\nwait\n`;
    const shell = spawn('bash', ['-c', script], { cwd: folder, env: { ...process.env, HOME: folder }, detached: true });
    let [output, log] = ['', ''];
    shell.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    shell.stderr.on('data', (chunk: Buffer) => (log += chunk.toString()));
    try {
      const limit = setTimeout(() => killGroup(shell.pid), 40_000);
      const [code] = (await once(shell, 'close')) as [number | null];
      clearTimeout(limit);
      expect({ code, output, log }).toMatchObject({ code: 0 });
      expect(output).toContain('namespace/demo created');
      expect(output).toContain('namespace "demo" deleted');
      expect(output.trimEnd().split('\n').slice(-4)).toEqual(
        ['default', 'kube-node-lease', 'kube-public', 'kube-system'].map((name) => `namespace/${name}`),
      );
      expect(log).toMatch(/no controllers run in this process: .*sternpost controller-manager --kubeconfig/);
    } finally {
      // Its group: what it has started in the background is not to outlive it.
      killGroup(shell.pid);
      rmSync(folder, { recursive: true, force: true });
    }
  }, 60_000);
});
