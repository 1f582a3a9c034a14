import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '../../api/object';
import { signDetached } from '../../pki/detached-jws';
import { isStatus, startController, type Controller, type ControllerParts } from '../controller';
import { expirationOf, signingToken, TOKEN_SECRETS_QUERY } from './token-secret';

const CLUSTER_INFO = 'cluster-info';
const MAPS_PATH = '/api/v1/namespaces/kube-public/configmaps';
const KUBECONFIG_KEY = 'kubeconfig';
const SIGNATURE_PREFIX = 'jws-kubeconfig-';
/** Of timers; what ends later is looked at once more on the way. */
const LONGEST_WAIT_MS = 60 * 60_000;

type Data = Readonly<Record<string, string>>;

/** The data of cluster-info with the signatures of exactly these tokens. */
async function signedData(data: Data, secrets: Iterable<KubeObject>, now: number): Promise<Data> {
  const kubeconfig = data[KUBECONFIG_KEY];
  const rest = Object.entries(data).filter(([key]) => !key.startsWith(SIGNATURE_PREFIX));
  const signatures: [string, string][] = [];
  for (const secret of kubeconfig === undefined ? [] : secrets) {
    const token = signingToken(secret, now);
    // The key is the secret part alone: kubeadm verifies with it.
    if (token !== undefined && kubeconfig !== undefined) {
      signatures.push([SIGNATURE_PREFIX + token.id, await signDetached(kubeconfig, token.secret, token.id)]);
    }
  }
  return Object.fromEntries([...rest, ...signatures]);
}

/**
 * Signs the kubeconfig in `cluster-info` of kube-public by every token that is meant for it, so that who knows a token
 * can believe the map (spec, "Cluster-info map").
 */
export function startBootstrapSigner(parts: ControllerParts, now: () => number): Controller {
  return startController('bootstrap-signer', parts, ({ client, signal, queue, follow }) => {
    const secrets = new Map<string, KubeObject>();
    let map: KubeObject | undefined;
    const path = `${MAPS_PATH}?fieldSelector=${encodeURIComponent(`metadata.name=${CLUSTER_INFO}`)}`;
    follow({
      path,
      changed: (object) => {
        map = object;
        queue.add(CLUSTER_INFO);
      },
      deleted: () => (map = undefined),
    });
    follow({
      path: TOKEN_SECRETS_QUERY,
      changed: (secret) => {
        secrets.set(secret.metadata.name ?? '', secret);
        queue.add(CLUSTER_INFO);
      },
      deleted: ({ metadata: { name = '' } }) => {
        secrets.delete(name);
        queue.add(CLUSTER_INFO);
      },
    });
    return async () => {
      if (map === undefined) return;
      const data = (map.data ?? {}) as Data;
      const signed = await signedData(data, secrets.values(), now());
      const next = Math.min(...[...secrets.values()].map(expirationOf).filter((end) => end > now()));
      if (next < Infinity) queue.addAfter(CLUSTER_INFO, Math.min(next - now() + 1, LONGEST_WAIT_MS));
      if (isDeepStrictEqual(data, signed)) return;
      try {
        await client.update(`${MAPS_PATH}/${CLUSTER_INFO}`, { ...map, data: signed }, signal);
      } catch (error) {
        if (!isStatus(error, 404)) throw error;
      }
    };
  });
}
