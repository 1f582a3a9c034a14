import { CATALOGUE } from '../api/kinds/catalogue';
import type { Logger } from '../observability/logger';
import { Encryption } from '../storage/encryption/encryption';
import { keyResources, type StoredResource } from '../storage/encryption/key-resources';
import { KmsServices } from '../storage/encryption/kms-services';
import type { EncryptionFlagOptions } from './encryption-flags';
import type { OpenedStore } from './open-store';

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
