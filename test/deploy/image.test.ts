import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { until } from '../support/until';

const run = promisify(execFile);
const BUILD = resolve(__dirname, '../../scripts/build-image.sh');
/** Debian's; `.ci/run` installs them. */
const PROGRAMS = ['/usr/bin/buildah', '/usr/bin/podman', '/usr/sbin/debootstrap'];
const BUILD_TIMEOUT_MS = 1_200_000;
const CONTAINER = 'sternpost-test';
/** crun takes no machine with both versions of cgroups; the sandbox of a test may have no cgroups at all. */
const PODMAN = 'umount /sys/fs/cgroup/unified 2>/dev/null; exec podman "$@"';
const LIMITS = ['--cgroups=disabled', '--ulimit=nofile=1024:1024', '--ulimit=nproc=4096:4096'];
/** As deploy/compose.yaml and the chart run it. */
const RESTRICTED = ['--read-only', '--cap-drop=all', '--security-opt=no-new-privileges'];

const canBuild = process.getuid?.() === 0 && PROGRAMS.every((program) => existsSync(program));
const describeImage = canBuild ? describe : describe.skip;

describeImage('the image of deploy/Dockerfile', () => {
  let folder: string;
  let environment: NodeJS.ProcessEnv;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'sternpost-image-'));
    const storage = join(folder, 'storage.conf');
    writeFileSync(
      storage,
      `[storage]\ndriver = "vfs"\ngraphroot = "${folder}/images"\nrunroot = "${folder}/containers"\n`,
    );
    environment = { ...process.env, CONTAINERS_STORAGE_CONF: storage };
    await run(BUILD, ['sternpost'], { env: environment, timeout: BUILD_TIMEOUT_MS });
  }, BUILD_TIMEOUT_MS);
  afterAll(async () => {
    await podman('rm', '--force', '--time=1', CONTAINER);
    rmSync(folder, { recursive: true, force: true });
  }, 60_000);

  /** In a mount namespace of its own. The output, or undefined when it failed. */
  const podman = async (...args: readonly string[]): Promise<string | undefined> => {
    const command = ['--mount', 'sh', '-c', PODMAN, 'sh', ...args];
    return run('unshare', command, { env: environment, timeout: 60_000 }).then(
      ({ stdout }) => stdout.trim(),
      () => undefined,
    );
  };
  /** What the script prints in the container. */
  const evaluate = (script: string) => podman('exec', CONTAINER, 'node', '--eval', script);

  it('runs by a user without rights on a root that is read-only, says whether it is ready, and ends when it is told to', async () => {
    const server = ['sternpost', 'apiserver', '--data-dir=/tmp/sternpost', '--healthz-bind-address=127.0.0.1:10256'];
    // Its ports are nobody else's then.
    await podman('run', '--detach', `--name=${CONTAINER}`, '--network=none', ...LIMITS, ...RESTRICTED, ...server);
    expect(
      await until(
        async () => (await podman('healthcheck', 'run', CONTAINER)) !== undefined,
        (isHealthy) => isHealthy,
      ),
    ).toBe(true);
    expect(await evaluate('console.log(process.getuid(), process.getgid())')).toBe('65532 65532');
    expect(await evaluate('try { fs.writeFileSync("/app/written", "") } catch ({ code }) { console.log(code) }')).toBe(
      'EROFS',
    );
    expect(
      await evaluate('fetch("http://127.0.0.1:10256/readyz").then((r) => r.text()).then((text) => console.log(text))'),
    ).toBe('ok');
    // For --tracing-config-file.
    const traces = '@opentelemetry/exporter-trace-otlp-grpc';
    expect(
      await evaluate(`console.log(require.resolve("${traces}", { paths: ["/app/node_modules/sternpost"] }))`),
    ).toContain(traces);
    await podman('stop', '--time=30', CONTAINER);
    expect(await podman('inspect', '--format={{.State.Status}} {{.State.ExitCode}}', CONTAINER)).toBe('exited 0');
  }, 120_000);

  it('tells of its flags when nothing else is asked of it', async () => {
    expect(await podman('run', '--rm', '--network=none', ...LIMITS, ...RESTRICTED, 'sternpost')).toContain(
      '--etcd-servers',
    );
  }, 60_000);
});
