import { StatusError } from '../api/errors/status-error';
import type { KubeObject } from '../api/object';
import type { ApiClient } from '../client/api-client';
import type { CertificateFiles, CertificatePlace } from '../pki/certificate-set';

type Secret = KubeObject & { readonly data?: Readonly<Record<string, string>> };

/** Sets as Secrets of a cluster, whose names begin with a prefix. */
export class CertificateSecrets implements CertificatePlace {
  constructor(
    private readonly client: Pick<ApiClient, 'get' | 'create' | 'update' | 'close'>,
    private readonly namespace: string,
    private readonly prefix: string,
  ) {}

  async read(set: string): Promise<CertificateFiles | undefined> {
    const data = (await this.#get(set))?.data;
    if (data === undefined) return undefined;
    return Object.fromEntries(
      Object.entries(data).map(([name, text]) => [name, Buffer.from(text, 'base64').toString('utf8')]),
    );
  }

  async write(set: string, files: CertificateFiles): Promise<void> {
    const data = Object.fromEntries(
      Object.entries(files).map(([name, text]) => [name, Buffer.from(text, 'utf8').toString('base64')]),
    );
    const found = await this.#get(set);
    if (found !== undefined) {
      await this.client.update(this.#path(set), { ...found, data: { ...found.data, ...data } });
      return;
    }
    const type = 'tls.crt' in files && !('kubeconfig' in files) ? 'kubernetes.io/tls' : 'Opaque';
    await this.client.create(this.#path(), {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: `${this.prefix}${set}`, labels: { 'app.kubernetes.io/managed-by': 'sternpost-certificates' } },
      type,
      data,
    });
  }

  close(): void {
    this.client.close();
  }

  async #get(set: string): Promise<Secret | undefined> {
    try {
      return await this.client.get<Secret>(this.#path(set));
    } catch (error) {
      if (error instanceof StatusError && error.status.code === 404) return undefined;
      throw error;
    }
  }

  #path(set?: string): string {
    const collection = `/api/v1/namespaces/${encodeURIComponent(this.namespace)}/secrets`;
    return set === undefined ? collection : `${collection}/${encodeURIComponent(`${this.prefix}${set}`)}`;
  }
}
