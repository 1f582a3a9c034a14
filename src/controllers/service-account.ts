import { followActiveNamespaces } from './active-namespaces';
import { isStatus, startController, type Controller, type ControllerParts } from './controller';

const DEFAULT_ACCOUNT = 'default';

/** Gives every active namespace its account `default`, again when it is deleted (spec, "Service-account related"). */
export function startServiceAccountController(parts: ControllerParts): Controller {
  return startController('serviceaccount', parts, (run) => {
    const { client, signal, queue } = run;
    const active = followActiveNamespaces(run, (name) => queue.add(name));
    run.follow({
      path: `/api/v1/serviceaccounts?fieldSelector=${encodeURIComponent(`metadata.name=${DEFAULT_ACCOUNT}`)}`,
      representation: 'metadata',
      deleted: ({ metadata: { namespace = '' } }) => queue.add(namespace),
    });
    return async (namespace) => {
      if (!active.has(namespace)) return;
      try {
        const account = { metadata: { name: DEFAULT_ACCOUNT } };
        await client.create(`/api/v1/namespaces/${namespace}/serviceaccounts`, account, signal);
      } catch (error) {
        // It is there; or the namespace is gone, or going.
        if (!isStatus(error, 403, 404, 409)) throw error;
      }
    };
  });
}
