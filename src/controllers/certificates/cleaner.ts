import { X509Certificate } from 'node:crypto';
import type { KubeObject } from '../../api/object';
import { isStatus, startController, type Controller, type ControllerParts } from '../controller';
import { REQUESTS_PATH, statusOf } from './signing-request';

const HOUR_MS = 60 * 60_000;
/** How often it is looked whose time has come. */
const ROUND_MS = 10 * 60_000;

/** From when on a request is of no use: an hour after its last change, or with the end of its certificate. */
export function uselessFrom({ metadata, ...request }: KubeObject): number {
  const { conditions, certificate } = statusOf({ metadata, ...request });
  const times = [metadata.creationTimestamp, ...(conditions ?? []).map(({ lastUpdateTime }) => lastUpdateTime)];
  const lastChange = Math.max(...times.map((time) => Date.parse(time ?? '')).filter((time) => !Number.isNaN(time)));
  return Math.min(lastChange + HOUR_MS, certificate ? endOf(certificate) : Infinity);
}

/** Of the first certificate that is in it; never for what is none. */
function endOf(certificate: string): number {
  try {
    return Date.parse(new X509Certificate(Buffer.from(certificate, 'base64')).validTo);
  } catch {
    return Infinity;
  }
}

/** Deletes certificate requests an hour after their last change, whatever has become of them (spec, "Limits"). */
export function startCertificateCleaner(parts: ControllerParts, now: () => number): Controller {
  return startController('certificate-cleaner', parts, ({ client, signal, queue, follow, every }) => {
    const times = new Map<string, { readonly uid: string; readonly at: number }>();
    follow({
      path: REQUESTS_PATH,
      keep: ({ metadata: { name = '', resourceVersion = '' } }) => ({ metadata: { name, resourceVersion } }),
      changed: (request) => {
        const { name = '', uid = '' } = request.metadata;
        const at = uselessFrom(request);
        times.set(name, { uid, at });
        if (at <= now()) queue.add(name);
      },
      deleted: ({ metadata: { name = '' } }) => times.delete(name),
    });
    every(ROUND_MS, () => {
      for (const [name, { at }] of times) if (at <= now()) queue.add(name);
    });
    return async (name) => {
      const known = times.get(name);
      if (known === undefined || known.at > now()) return;
      const path = `${REQUESTS_PATH}/${encodeURIComponent(name)}`;
      try {
        await client.delete(path, { preconditions: { uid: known.uid } }, signal);
      } catch (error) {
        if (!isStatus(error, 404, 409)) throw error;
      }
    };
  });
}
