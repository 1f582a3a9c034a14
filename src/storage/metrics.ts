import { Gauge, type Registry } from 'prom-client';
import type { Store, StoreSpace } from './store';

/** What is stored under a prefix, as labels. */
export interface StoredResource {
  readonly group: string;
  readonly resource: string;
}

/** A store that does not answer must not hold up the other metrics. */
const PATIENCE_MS = 1_000;
/** Gauges that ask so soon after a failure are of the same reading. */
const SAME_READING_MS = 500;

/** A gauge of how full one file, or one server, is. */
interface SpaceGauge {
  readonly name: string;
  readonly help: string;
  readonly value: (space: StoreSpace) => number | undefined;
}

/** The first is kube-apiserver's name for what it hears of etcd, the others are etcd's own. */
const gauges: readonly SpaceGauge[] = [
  {
    name: 'etcd_db_total_size_in_bytes',
    help: 'Size of the data file, as the store tells it.',
    value: ({ fileBytes }) => fileBytes,
  },
  {
    name: 'etcd_mvcc_db_total_size_in_bytes',
    help: 'Size of the data file.',
    value: ({ fileBytes }) => fileBytes,
  },
  {
    name: 'etcd_mvcc_db_total_size_in_use_in_bytes',
    help: 'Size of what the data file holds, without pages that will be used again.',
    value: ({ inUseBytes }) => inUseBytes,
  },
  {
    name: 'etcd_server_quota_backend_bytes',
    help: 'How much the data file may hold before writes are refused.',
    value: ({ quotaBytes }) => quotaBytes,
  },
];

/** What kube-apiserver calls the first of its stores, of which there is one here. */
const CLUSTER_ID = 'etcd-0';

/** Metrics of how full the store is. They are asked for when they are read; a store that does not answer keeps its last ones. */
export class StorageMetrics {
  #asking: Promise<readonly StoreSpace[]> | undefined;
  #failedMs = -Infinity;

  constructor(
    registry: Registry,
    private readonly store: Pick<Store, 'space'>,
  ) {
    const read = (): Promise<readonly StoreSpace[]> => this.#read();
    new Gauge({
      name: 'apiserver_storage_size_bytes',
      help: 'Size of the data file, as the store tells it; of a cluster, that of one of its servers.',
      labelNames: ['storage_cluster_id'],
      registers: [registry],
      aggregator: 'max',
      async collect() {
        const [space] = await read();
        if (space !== undefined) this.set({ storage_cluster_id: CLUSTER_ID }, space.fileBytes);
      },
    });
    for (const { name, help, value } of gauges) {
      new Gauge({
        name,
        help,
        labelNames: ['endpoint'],
        registers: [registry],
        // Several processes of one replica tell of the same file.
        aggregator: 'max',
        async collect() {
          for (const space of await read()) {
            const bytes = value(space);
            if (bytes !== undefined) this.set({ endpoint: space.endpoint }, bytes);
          }
        },
      });
    }
  }

  /** One question for all gauges, which are read one after another: a store that does not answer is waited for once. */
  #read(): Promise<readonly StoreSpace[]> {
    if (performance.now() - this.#failedMs < SAME_READING_MS) return Promise.resolve([]);
    this.#asking ??= this.store
      .space(AbortSignal.timeout(PATIENCE_MS))
      .catch(() => {
        this.#failedMs = performance.now();
        return [];
      })
      .finally(() => {
        this.#asking = undefined;
      });
    return this.#asking;
  }
}
