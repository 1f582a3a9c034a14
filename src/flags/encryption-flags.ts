import type { FlagTable, OptionsOf } from './flag-table';

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
