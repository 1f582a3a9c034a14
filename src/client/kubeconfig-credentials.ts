import type { FollowedFiles } from '../files/followed-files';
import type { Logger } from '../observability/logger';
import type { Credentials, CredentialSource } from './api-client';
import { ExecCredentials } from './exec-credential';
import { followKubeconfig } from './followed-kubeconfig';
import { readKubeconfig, type KubeconfigTarget } from './kubeconfig-file';

interface Read {
  readonly target: KubeconfigTarget;
  readonly plugin: ExecCredentials | undefined;
  readonly close: () => void;
}

/**
 * What a kubeconfig proves its user by, as the file and those that it names are now: certificates that are renewed are shown without a
 * restart. Where it leads, it leads for good. Throws what is wrong with it at first.
 */
export class KubeconfigCredentials implements CredentialSource {
  readonly #followed: FollowedFiles<Read>;

  constructor(file: string, logger: Logger) {
    this.#followed = followKubeconfig(file, () => read(file), logger);
  }

  get target(): KubeconfigTarget {
    return this.#followed.current().target;
  }

  async current(): Promise<Credentials> {
    const { target, plugin } = this.#followed.current();
    const { clientCertificate, clientKey, certificateAuthority } = target.tls;
    return {
      ...(target.bearerToken !== undefined && { token: target.bearerToken }),
      ...(clientCertificate !== undefined && { clientCertificate }),
      ...(clientKey !== undefined && { clientKey }),
      ...(certificateAuthority !== undefined && { certificateAuthority }),
      ...(await plugin?.current()),
    };
  }

  forget(): void {
    this.#followed.current().plugin?.forget();
  }
}

function read(file: string): Read {
  const target = readKubeconfig(file);
  const { url, exec, tls } = target;
  const { certificateAuthority } = tls;
  const cluster = { server: url, ...(certificateAuthority !== undefined && { certificateAuthority }) };
  return {
    target,
    plugin: exec && new ExecCredentials(exec, cluster),
    close: () => undefined,
  };
}
