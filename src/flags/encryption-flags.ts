import { CATALOGUE } from '../api/kinds/catalogue';
import type { Logger } from '../observability/logger';
import { Encryption } from '../storage/encryption/encryption';
import { keyResources, type StoredResource } from '../storage/encryption/key-resources';
import { KmsServices } from '../storage/encryption/kms-services';
import type { FlagTable, OptionsOf } from './flag-table';
import type { OpenedStore } from './open-store';

/** Flags of encryption at rest, for every command that opens a store for a server. */
export const encryptionFlags = {
  'encryption-provider-config': {
    type: 'string',
    section: 'Storage',
    help: 'File that says which resources are encrypted in the store, and how (EncryptionConfiguration, apiserver.config.k8s.io/v1).',
  },
  'encryption-provider-config-automatic-reload': {
    type: 'bool',
    section: 'Storage',
    help: 'Read the file of --encryption-provider-config again when it changes.',
  },
} as const satisfies FlagTable;

export type EncryptionFlagOptions = OptionsOf<typeof encryptionFlags>;

export function problemsOfEncryption(options: EncryptionFlagOptions): readonly string[] {
  return options.encryptionProviderConfigAutomaticReload && options.encryptionProviderConfig === ''
    ? ['--encryption-provider-config-automatic-reload must be set with --encryption-provider-config']
    : [];
}

/** Undefined: nothing is encrypted. Throws what is wrong with the file. */
export function openEncryption(options: EncryptionFlagOptions, logger: Logger): Encryption | undefined {
  if (options.encryptionProviderConfig === '') return undefined;
  return new Encryption({
    file: options.encryptionProviderConfig,
    reloads: options.encryptionProviderConfigAutomaticReload,
    services: new KmsServices(),
    logger,
  });
}

/** What is stored of built-in kinds, and where. */
export function storedResources(): readonly StoredResource[] {
  return CATALOGUE.filter(({ stored }) => stored).map(({ storagePrefix, storage, resource }) => ({
    storagePrefix,
    group: storage.group,
    resource,
  }));
}

/** The same registry, whose values are encrypted as `encryption` says. */
export function encrypted({ store, keyRoot }: OpenedStore, encryption: Encryption | undefined): OpenedStore {
  if (encryption === undefined) return { store, keyRoot };
  return { store: encryption.wrap(store, keyRoot, keyResources(keyRoot, storedResources())), keyRoot };
}
