import type { KmsProvider } from './configuration';
import { KmsV1Client, KmsV2Client } from './kms-client';
import { kmsV1Transformer } from './kms-v1';
import { KmsV2Transformer } from './kms-v2';
import type { Transformer } from './transformer';

/** Rejects when a service cannot be used. */
export interface KmsCheck {
  readonly name: string;
  readonly check: () => Promise<void>;
}

interface Service {
  readonly transformer: Transformer;
  readonly check: () => Promise<void>;
  readonly close: () => void;
}

const PROBE = Buffer.from('ping');
/** How long the result of a check counts. */
const CHECKED_MS = 10_000;

/** Connections to key management services: one for each that the configuration names, kept when it is read again. */
export class KmsServices {
  readonly #services = new Map<string, Service>();

  readonly open = (provider: KmsProvider): Transformer => {
    const id = JSON.stringify(provider);
    const service = this.#services.get(id) ?? connect(provider);
    this.#services.set(id, service);
    return service.transformer;
  };

  /** `kms-provider-0` and so on, in the order of the configuration. */
  get checks(): readonly KmsCheck[] {
    return [...this.#services.values()].map(({ check }, index) => ({ name: `kms-provider-${index}`, check }));
  }

  close(): void {
    for (const { close } of this.#services.values()) close();
  }
}

function connect(provider: KmsProvider): Service {
  if (provider.apiVersion === 'v2') {
    const client = new KmsV2Client(provider.socket, provider.timeoutMs);
    const transformer = new KmsV2Transformer(provider, client);
    return { transformer, check: () => transformer.check(), close: () => client.close() };
  }
  const client = new KmsV1Client(provider.socket, provider.timeoutMs);
  const probe = async (): Promise<void> => {
    await client.checkVersion();
    if (!(await client.decrypt(await client.encrypt(PROBE))).equals(PROBE)) {
      throw new Error('the KMS provider decrypts to something else than was encrypted');
    }
  };
  return { transformer: kmsV1Transformer(provider, client), check: remembered(probe), close: () => client.close() };
}

/** A check whose success is believed for a while: probes are many, and each would cost the service two calls. */
function remembered(check: () => Promise<void>): () => Promise<void> {
  let goodUntil = 0;
  return async () => {
    if (performance.now() < goodUntil) return;
    await check();
    goodUntil = performance.now() + CHECKED_MS;
  };
}
