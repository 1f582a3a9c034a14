import { aesCbc, aesGcm, secretbox } from './ciphers';
import { covers, type EncryptedResources, type KeyedProvider, type KmsProvider, type Provider } from './configuration';
import { firstOf, identity, keyedTransformer, type Cipher, type Transformer } from './transformer';

/** Connects to a key management service. */
export type OpenKms = (provider: KmsProvider) => Transformer;

const CIPHERS: Readonly<Record<KeyedProvider, (key: Buffer) => Cipher>> = {
  aescbc: aesCbc,
  aesgcm: aesGcm,
  secretbox,
};

function transformerOf(provider: Provider, openKms: OpenKms): Transformer {
  switch (provider.type) {
    case 'identity':
      return identity;
    case 'kms':
      return openKms(provider);
    default:
      return keyedTransformer(
        `k8s:enc:${provider.type}:v1:`,
        provider.keys.map(({ name, secret }) => ({ name, cipher: CIPHERS[provider.type](secret) })),
      );
  }
}

/** Who keeps the values of a resource (`secrets`, `deployments.apps`). */
export type TransformerOf = (resource: string) => Transformer;

/** The first entry that covers a resource is for it; what none covers is kept as it is. */
export function transformersOf(configuration: readonly EncryptedResources[], openKms: OpenKms): TransformerOf {
  const entries = configuration.map(({ resources, providers }) => ({
    resources,
    transformer: firstOf(providers.map((provider) => transformerOf(provider, openKms))),
  }));
  return (resource) =>
    entries.find(({ resources }) => resources.some((pattern) => covers(pattern, resource)))?.transformer ?? identity;
}
