import { isDeepStrictEqual } from 'node:util';
import { StatusError } from '../api/errors/status-error';
import type { KubeObject } from '../api/object';
import type { ResourceRegistry } from '../registry/resource-registry';
import type { AuthenticationOptions } from './authentication';
import type { ServingCertificates } from './certificates';

const NAMESPACE = 'kube-system';
const NAME = 'extension-apiserver-authentication';

/**
 * How extension API servers learn whom to believe: the config map `extension-apiserver-authentication` of kube-system
 * with the CAs and header names of this server's flags. Undefined when there is nothing to tell.
 */
export function publishedAuthentication(
  { requestHeader }: AuthenticationOptions,
  { clientAuthority, frontAuthority }: ServingCertificates,
): Readonly<Record<string, string>> | undefined {
  const data = {
    ...(clientAuthority === undefined ? {} : { 'client-ca-file': clientAuthority }),
    ...(requestHeader === undefined || frontAuthority === undefined
      ? {}
      : {
          'requestheader-client-ca-file': frontAuthority,
          'requestheader-allowed-names': JSON.stringify(requestHeader.allowedNames),
          'requestheader-username-headers': JSON.stringify(requestHeader.userHeaders),
          'requestheader-group-headers': JSON.stringify(requestHeader.groupHeaders),
          'requestheader-extra-headers-prefix': JSON.stringify(requestHeader.extraPrefixes),
        }),
  };
  return Object.keys(data).length === 0 ? undefined : data;
}

/** Creates the config map or brings it up to date; other keys stay. Replicas may do it at once. */
export async function publishAuthentication(
  configMaps: ResourceRegistry,
  data: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<void> {
  const scope = { namespace: NAMESPACE };
  const context = { signal, dryRun: false };
  try {
    await configMaps.create(scope, { metadata: { name: NAME, namespace: NAMESPACE }, data }, {}, context);
    return;
  } catch (error) {
    if (!(error instanceof StatusError) || error.status.reason !== 'AlreadyExists') throw error;
  }
  const change = async (current: KubeObject | undefined): Promise<KubeObject> => {
    const base = current ?? { metadata: { name: NAME, namespace: NAMESPACE } };
    const merged = { ...(base.data as Readonly<Record<string, string>> | undefined), ...data };
    return isDeepStrictEqual(base.data, merged) ? base : { ...base, data: merged };
  };
  await configMaps.update(scope, NAME, { change, retryOnConflict: true }, context);
}
