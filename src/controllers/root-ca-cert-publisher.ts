import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '../api/object';
import { followActiveNamespaces } from './active-namespaces';
import { isStatus, startController, type Controller, type ControllerParts } from './controller';

const NAME = 'kube-root-ca.crt';

/**
 * Publishes the CA of the API server as `kube-root-ca.crt` in every active namespace, for the token volumes of pods, and
 * again when it is changed or deleted (spec, "Service account-related"). `rootCertificates`: PEM.
 */
export function startRootCaCertPublisher(parts: ControllerParts, rootCertificates: string): Controller {
  return startController('root-ca-cert-publisher', parts, (run) => {
    const { client, signal, queue } = run;
    const data = { 'ca.crt': rootCertificates };
    /** By namespace; undefined where it is as it should be, which need not be remembered in full. */
    const published = new Map<string, KubeObject | undefined>();
    const active = followActiveNamespaces(run, (name) => queue.add(name));
    run.follow({
      path: `/api/v1/configmaps?fieldSelector=${encodeURIComponent(`metadata.name=${NAME}`)}`,
      keep: ({ metadata: { namespace = '', name = '', resourceVersion = '' } }) => ({
        metadata: { namespace, name, resourceVersion },
      }),
      changed: (map) => {
        const { namespace = '' } = map.metadata;
        const isRight = isDeepStrictEqual(map.data, data);
        published.set(namespace, isRight ? undefined : map);
        if (!isRight) queue.add(namespace);
      },
      deleted: ({ metadata: { namespace = '' } }) => {
        published.delete(namespace);
        queue.add(namespace);
      },
    });
    return async (namespace) => {
      const known = published.get(namespace);
      if (!active.has(namespace) || (known === undefined && published.has(namespace))) return;
      const path = `/api/v1/namespaces/${namespace}/configmaps`;
      try {
        if (known === undefined) await client.create(path, { metadata: { name: NAME }, data }, signal);
        else await client.update(`${path}/${NAME}`, { ...known, data, binaryData: undefined }, signal);
      } catch (error) {
        // It is there; or the namespace is gone, or going.
        if (isStatus(error, 403, 404) || (known === undefined && isStatus(error, 409))) return;
        throw error;
      }
    };
  });
}
