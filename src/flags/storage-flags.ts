import type { FlagTable } from './flag-table';

/** Flags of the embedded store, for every command that opens one. */
export const storageFlags = {
  'quota-backend-bytes': {
    type: 'int',
    section: 'Storage',
    default: '8589934592',
    help: 'Bytes that the embedded store may hold before it refuses writes, as etcd does with its flag of this name; 0: no bound.',
  },
} as const satisfies FlagTable;
