import { statSync } from 'node:fs';
import { join } from 'node:path';
import { createSecureContext } from 'node:tls';
import { namedBy } from '../files/named-file';
import { protectFile, protectFolder } from '../files/private-files';
import { WatchedFiles } from '../files/watched-files';
import type { Logger } from '../observability/logger';
import { readCertificates, readPrivateKey } from '../pki/pem-files';
import type * as EmbeddedStore from '../storage/embedded/embedded-store';
import type * as EtcdStore from '../storage/etcd/etcd-store';
import type { TlsFiles, TlsSource } from '../storage/etcd/grpc-channel';
import type * as Etcd3Endpoint from '../storage/etcd3/etcd3-endpoint';
import type { Store } from '../storage/store';
import type { ApiserverOptions } from './apiserver-flags';
import { storageFlags } from './storage-flags';

/** Where a registry is kept, and what all its keys begin with. */
export interface OpenedStore {
  readonly store: Store;
  readonly keyRoot: string;
}

/**
 * A store's libraries are loaded when it is used: the other's would only slow the start. By require, because an import()
 * from CommonJS needs flags under Jest.
 */
/* eslint-disable @typescript-eslint/no-require-imports */
const stores = {
  embedded: () => require('../storage/embedded/embedded-store') as typeof EmbeddedStore,
  etcd: () => require('../storage/etcd/etcd-store') as typeof EtcdStore,
  etcd3: () => require('../storage/etcd3/etcd3-endpoint') as typeof Etcd3Endpoint,
};
/* eslint-enable @typescript-eslint/no-require-imports */

export const DEFAULT_KEY_ROOT = '/registry/';

/** The file of a data directory's embedded store. */
export function registryFileOf(dataDir: string): string {
  return join(dataDir, 'registry.mdb');
}

/** Why a folder is no data directory of an embedded store; nothing is made. */
export function problemsOfRegistryFile(dataDir: string): readonly string[] {
  const file = registryFileOf(dataDir);
  const stat = statSync(file, { throwIfNoEntry: false });
  if (stat === undefined) return [`there is no registry: ${file} does not exist`];
  return stat.size === 0 ? [`there is no registry: ${file} is empty`] : [];
}

/** What the commands keep in a data directory. */
const OWN_NAME = /^(registry\.mdb.*|kubeconfig.*|pki)$/;

export interface DataDirectoryOptions {
  /** How much history is kept. */
  readonly historyMs: number;
  /** `--quota-backend-bytes`. */
  readonly quotaBytes: number;
  /** Called when the file has to be opened again, which takes another process. */
  readonly onLost?: (error: Error) => void;
}

/** What commands without flags for it keep, and as much as a server in a cluster. */
export const DEFAULT_DATA_DIRECTORY_OPTIONS: DataDirectoryOptions = {
  historyMs: 5 * 60_000,
  quotaBytes: Number(storageFlags['quota-backend-bytes'].default),
};

/** Opens (or creates) the embedded store of a data directory. */
export async function openDataDirectory(
  dataDir: string,
  { historyMs, quotaBytes, onLost }: DataDirectoryOptions,
  logger: Logger,
): Promise<OpenedStore> {
  const warn = (message: string): void => logger.warn(message);
  protectFolder(dataDir, (name) => OWN_NAME.test(name), warn);
  protectFile(join(dataDir, 'kubeconfig'), warn);
  const { openEmbeddedStore } = stores.embedded();
  const path = registryFileOf(dataDir);
  const store = await openEmbeddedStore({ path, historyMs, quotaBytes, logger, ...(onLost && { onLost }) });
  return { store, keyRoot: DEFAULT_KEY_ROOT };
}

/** Makes the file of a data directory as small as what it holds. */
export async function compactDataDirectory(
  dataDir: string,
  historyMs: number,
  logger: Logger,
): Promise<{ readonly path: string; readonly bytesBefore: number; readonly bytesAfter: number }> {
  const path = registryFileOf(dataDir);
  const { compactStoreFile } = stores.embedded();
  return { path, ...(await compactStoreFile(path, historyMs, (message) => logger.warn(message))) };
}

/** What `--etcd-client` may name. */
export const ETCD_CLIENTS: readonly string[] = ['sternpost', 'etcd3'];

/** The flags that say where etcd is, how it is called, and how to prove who we are. */
type EtcdOptions = Pick<
  ApiserverOptions,
  'etcdServers' | 'etcdPrefix' | 'etcdCafile' | 'etcdCertfile' | 'etcdKeyfile'
> &
  Partial<Pick<ApiserverOptions, 'etcdClient'>>;

/** etcd as the flags say, compacted every so often together with other replicas; 0 leaves that to them. */
export async function openEtcd(
  options: EtcdOptions,
  compactionIntervalMs: number,
  logger: Logger,
): Promise<OpenedStore> {
  const { openEtcdStore, startCompactor } = stores.etcd();
  const tls = etcdTls(options, logger);
  const store = await openEtcdStore({
    endpoints: options.etcdServers,
    ...(tls && { tls }),
    ...(options.etcdClient === 'etcd3' && { openEndpoint: stores.etcd3().openEtcd3Endpoint }),
    logger,
  });
  if (compactionIntervalMs > 0) startCompactor(store, compactionIntervalMs);
  return { store, keyRoot: `/${options.etcdPrefix.replace(/^\/+|\/+$/g, '')}/` };
}

/** Each connection reads the files as they are when it is opened, so that certificates can be renewed. */
function etcdTls({ etcdCafile, etcdCertfile, etcdKeyfile }: EtcdOptions, logger: Logger): TlsSource | undefined {
  const files = [etcdCafile, etcdCertfile, etcdKeyfile].filter((file) => file !== '');
  if (files.length === 0) return undefined;
  const read = (file: string, flag: string, reader: typeof readPrivateKey): Buffer | undefined =>
    file === '' ? undefined : Buffer.from(reader(file, namedBy(flag)));
  const load = (): TlsFiles => {
    const ca = read(etcdCafile, 'etcd-cafile', readCertificates);
    const certificate = read(etcdCertfile, 'etcd-certfile', readCertificates);
    const key = read(etcdKeyfile, 'etcd-keyfile', readPrivateKey);
    // Throws when they do not belong together, as while they are being replaced.
    createSecureContext({ ...(ca && { ca }), ...(certificate && { cert: certificate }), ...(key && { key }) });
    return { ...(ca && { ca }), ...(certificate && { certificate }), ...(key && { key }) };
  };
  const onFailed = (error: unknown): void => logger.warn({ err: error }, 'the certificates for etcd cannot be used');
  return new WatchedFiles({ files, load, looksWhenAsked: true, pollMs: 0, onFailed }).current;
}

/** The store that the flags name: etcd when it has servers, else the embedded one, which alone may be lost. */
export function openStore(
  options: ApiserverOptions,
  logger: Logger,
  onLost?: DataDirectoryOptions['onLost'],
): Promise<OpenedStore> {
  return options.etcdServers.length > 0
    ? openEtcd(options, options.etcdCompactionInterval, logger)
    : openDataDirectory(
        options.dataDir,
        {
          // Nobody else compacts it: until its space runs out.
          historyMs: options.etcdCompactionInterval === 0 ? Infinity : options.etcdCompactionInterval,
          quotaBytes: options.quotaBackendBytes,
          ...(onLost && { onLost }),
        },
        logger,
      );
}
