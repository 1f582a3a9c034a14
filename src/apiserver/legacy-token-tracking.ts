import { StatusError } from '../api/errors/status-error';
import { dayOf, isDay, LAST_USED_LABEL, TRACKING_CONFIG_MAP } from '../api/legacy-tokens';
import type { KubeObject } from '../api/object';
import type { Logger } from '../observability/logger';
import type { ResourceRegistry } from '../registry/resource-registry';

const NAMESPACE = 'kube-system';

/** Says since when uses of tokens are written down: the config map is created, or mended where its day is none. */
export async function publishTokenTracking(
  configMaps: ResourceRegistry,
  now: number,
  signal: AbortSignal,
): Promise<void> {
  const scope = { namespace: NAMESPACE };
  const context = { signal, dryRun: false };
  const metadata = { name: TRACKING_CONFIG_MAP, namespace: NAMESPACE };
  const data = { since: dayOf(now) };
  try {
    await configMaps.create(scope, { metadata, data }, {}, context);
    return;
  } catch (error) {
    if (!(error instanceof StatusError) || error.status.reason !== 'AlreadyExists') throw error;
  }
  const change = async (current: KubeObject | undefined): Promise<KubeObject> => {
    const base: KubeObject = current ?? { metadata };
    return isDay((base.data as { readonly since?: string } | undefined)?.since) ? base : { ...base, data };
  };
  await configMaps.update(scope, TRACKING_CONFIG_MAP, { change, retryOnConflict: true }, context);
}

/** Writes the day of a token's last use into its secret. Who uses it does not wait for that. */
export function noteLegacyTokenUse(
  secrets: ResourceRegistry,
  logger: Logger,
  signal: AbortSignal,
): (secret: KubeObject, day: string) => void {
  const change =
    (uid: string | undefined, day: string) =>
    async (current: KubeObject | undefined): Promise<KubeObject> => {
      if (current === undefined || current.metadata.uid !== uid) throw new StatusError(404, 'NotFound', 'it is gone');
      const { metadata } = current;
      return { ...current, metadata: { ...metadata, labels: { ...metadata.labels, [LAST_USED_LABEL]: day } } };
    };
  return ({ metadata: { namespace = '', name = '', uid } }, day) => {
    secrets
      .update({ namespace }, name, { change: change(uid, day), retryOnConflict: true }, { signal, dryRun: false })
      .catch((error: unknown) => {
        const isGone = error instanceof StatusError && error.status.code === 404;
        if (!isGone && !signal.aborted) {
          logger.warn({ err: error, namespace, secret: name }, 'the use of a token could not be written down');
        }
      });
  };
}
