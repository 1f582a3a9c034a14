import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger } from '../observability/logger';
import { createSigningKey, parseSigningKey } from '../pki/signing-keys';
import { apiserverFlags } from './apiserver-flags';
import { proxyClientFromFlags } from './aggregator-flags';
import { authenticationFromFlags } from './authentication-flags';
import { parseFlags, type OptionsOf } from './flag-table';
import { kubeletOptions } from './kubelet-flags';
import { openEtcd } from './open-store';

type Options = OptionsOf<typeof apiserverFlags>;

const logger = createLogger({ level: 'silent' });
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'unusable-files-'));
  writeFileSync(join(folder, 'nonsense'), 'nonsense\n');
});
afterAll(() => rmSync(folder, { recursive: true }));

const kubelets = (options: Options): unknown => kubeletOptions(options, { names: [], prefixes: [] }, () => undefined);
const others = (options: Options): unknown => proxyClientFromFlags(options, () => undefined);
const etcd = (options: Options): unknown => openEtcd(options, 0, logger);

describe.each([
  ['kubelet-certificate-authority', [], kubelets],
  ['kubelet-client-certificate', ['kubelet-client-key'], kubelets],
  ['proxy-client-cert-file', ['proxy-client-key-file'], others],
  ['etcd-cafile', [], etcd],
  ['etcd-certfile', [], etcd],
  ['etcd-keyfile', [], etcd],
] as const)('the file of --%s', (flag, partners, use) => {
  const given = (name: string): Options =>
    parseFlags(
      apiserverFlags,
      [flag, ...partners].map((each) => `--${each}=${join(folder, name)}`),
    ).options;

  it.each([
    ['missing', 'it cannot be read (ENOENT: no such file or directory'],
    ['nonsense', 'it holds no '],
  ])('is told of with its flag when it is %s', async (name, problem) => {
    const told = expect(async () => use(given(name))).rejects;
    await told.toThrow(`${join(folder, name)}: ${problem}`);
    await told.toThrow(`named by --${flag}`);
  });
});

it('keys of service accounts that are none are told of with their flag', async () => {
  const pem = await createSigningKey();
  const { options } = parseFlags(apiserverFlags, [`--service-account-key-file=${join(folder, 'nonsense')}`]);
  expect(() => authenticationFromFlags(options, parseSigningKey(pem))).toThrow(
    `${join(folder, 'nonsense')}: data does not contain any valid RSA or ECDSA public keys. It is named by --service-account-key-file`,
  );
});
