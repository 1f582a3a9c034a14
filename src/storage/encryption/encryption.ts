import { readFileSync } from 'node:fs';
import { parseYaml } from '../../api/codec/yaml';
import type { JsonValue } from '../../api/object';
import { WatchedFiles } from '../../files/watched-files';
import type { Logger } from '../../observability/logger';
import type { Store } from '../store';
import { parseEncryptionConfiguration } from './configuration';
import { EncryptedStore } from './encrypted-store';
import type { KmsServices } from './kms-services';
import type { EncryptionMetrics } from './metrics';
import { transformersOf, type TransformerOf } from './providers';

export interface EncryptionOptions {
  /** An EncryptionConfiguration, YAML or JSON. */
  readonly file: string;
  /** Whether the file is read again when it changes. */
  readonly reloads: boolean;
  readonly services: KmsServices;
  readonly logger: Logger;
}

/** Encryption at rest, as a file says. */
export class Encryption {
  readonly #options: EncryptionOptions;
  readonly #file: WatchedFiles<TransformerOf> | undefined;
  readonly #stores = new Set<EncryptedStore>();
  #transformerOf: TransformerOf;
  #metrics: EncryptionMetrics | undefined;

  /** Throws what is wrong with the file. */
  constructor(options: EncryptionOptions) {
    this.#options = options;
    const { file, reloads, logger } = options;
    if (!reloads) {
      this.#transformerOf = this.#load();
      return;
    }
    this.#file = new WatchedFiles({
      files: [file],
      load: () => this.#load(),
      onChanged: (transformerOf) => {
        this.#transformerOf = transformerOf;
        for (const store of this.#stores)
          store.changed((error) => logger.warn({ err: error }, 'looking for values to encrypt anew failed'));
        this.#metrics?.reloaded('success');
        logger.info({ file }, 'the encryption configuration has changed');
      },
      onFailed: (error) => {
        this.#metrics?.reloaded('failure');
        logger.error({ err: error, file }, 'the encryption configuration cannot be used; the one before stays');
      },
    });
    this.#transformerOf = this.#file.current();
  }

  /** The store with its values encrypted. */
  wrap(store: Store, keyRoot: string, resourceOf: (key: string) => string | undefined): EncryptedStore {
    const wrapped = new EncryptedStore(store, {
      keyRoot,
      transformerOf: (resource) => this.#transformerOf(resource),
      resourceOf,
      metrics: () => this.#metrics,
    });
    this.#stores.add(wrapped);
    return wrapped;
  }

  /** Transformations are counted from now on. */
  measure(metrics: EncryptionMetrics): void {
    this.#metrics = metrics;
  }

  /** Named checks of the key management services: each rejects when its service cannot be used. */
  get checks(): KmsServices['checks'] {
    return this.#options.services.checks;
  }

  close(): void {
    this.#file?.close();
    this.#options.services.close();
  }

  #load(): TransformerOf {
    const { file, services } = this.#options;
    try {
      const configuration = parseEncryptionConfiguration(parseYaml(readFileSync(file, 'utf8')) as JsonValue);
      return transformersOf(configuration, (provider) => services.open(provider));
    } catch (error) {
      throw new Error(`--encryption-provider-config: ${file}: ${(error as Error).message}`, { cause: error });
    }
  }
}
