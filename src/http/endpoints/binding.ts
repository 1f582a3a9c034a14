import { notSupported, required, type FieldError } from '../../api/errors/field-error';
import { badRequest, conflict, invalidObject } from '../../api/errors/status-error';
import { extend } from '../../api/extend';
import type { KubeObject } from '../../api/object';
import { formatDate } from '../../api/time/rfc3339';
import type { Endpoint, EndpointDependencies, ResourceRequest } from './endpoint';
import type { RegistryOperations } from '../../resources/served-resource';
import { statusResponse } from '../response/api-response';
import { parseWriteOptions } from '../request/write-options';
import { admissionHooks } from './admission-hooks';
import { decodeAs } from './decode-request';
import { operationOf } from './resource-request';
import { ownedByPoster } from './review';

/** The wire's Binding, v1: what a scheduler posts. */
interface Binding extends KubeObject {
  readonly target?: { readonly kind?: string; readonly name?: string };
}

interface PodCondition {
  readonly type: string;
  readonly status: string;
  readonly [field: string]: unknown;
}

interface Pod extends KubeObject {
  readonly spec?: { readonly nodeName?: string };
  readonly status?: { readonly conditions?: readonly PodCondition[] };
}

const BINDING = { group: '', version: 'v1', kind: 'Binding' };
const PODS_BINDING = { group: '', resource: 'pods/binding' };

/**
 * Assigns a pod to a node, once: `POST pods/{name}/binding`, and the older `POST bindings`. Sets the pod's node, its
 * PodScheduled condition and the binding's annotations.
 */
export const bindPod: Endpoint = async (request, dependencies) => {
  const { context } = request;
  const { schema } = dependencies.catalogue;
  const type = schema.kind(BINDING.group, BINDING.version, BINDING.kind);
  if (type === undefined) throw new Error('the schema has no Binding');
  const { object, options } = await decodeAs(request, dependencies, { kind: BINDING, type }, () =>
    parseWriteOptions(context.info.query, 'CreateOptions'),
  );
  const podName = checkBinding(object, context.info.named ? context.info.name : undefined);
  const { namespace } = context.info;
  const owned = ownedByPoster(request, dependencies, { kind: BINDING, type }, object, options);
  const admission = admissionHooks(request, dependencies, options.object, options.dryRun);
  const binding: Binding = await admission.mutate('CREATE', owned, undefined);
  await admission.validate('CREATE', binding, undefined);
  const now = new Date(dependencies.now());
  await podRegistry(request, dependencies).update(
    { namespace },
    podName,
    {
      change: async (current) => {
        if (current === undefined) throw new Error('a binding needs its pod');
        return assign(current, binding, now);
      },
      retryOnConflict: true,
    },
    operationOf(request, options.dryRun),
    {},
  );
  return statusResponse(201, { status: 'Success', code: 201 });
};

/** Returns the pod's name. */
function checkBinding({ metadata: { name = '' }, target }: Binding, nameInPath: string | undefined): string {
  if (nameInPath !== undefined && name !== nameInPath) {
    throw badRequest('name in URL does not match name in Binding object');
  }
  if (name === '') throw badRequest('Name parameter required.');
  const errors: FieldError[] = [];
  const kind = target?.kind ?? '';
  if (kind !== '' && kind !== 'Node') errors.push(notSupported('target.kind', kind, ['Node', '<empty>']));
  if (!target?.name) errors.push(required('target.name', ''));
  if (errors.length > 0) throw invalidObject({ group: '', kind: 'Binding' }, name, errors);
  return name;
}

function podRegistry({ served, registry }: ResourceRequest, { catalogue }: EndpointDependencies): RegistryOperations {
  if (served.definition.resource === 'pods') return registry;
  const pods = catalogue.resolve('', 'v1', 'pods')?.registry;
  if (pods === undefined) throw new Error('pods are not served');
  return pods;
}

function assign(pod: Pod, { metadata, target }: Binding, now: Date): KubeObject {
  const name = pod.metadata.name ?? '';
  if (pod.metadata.deletionTimestamp) {
    throw conflict(PODS_BINDING, name, `pod ${name} is being deleted, cannot be assigned to a host`);
  }
  if (pod.spec?.nodeName) {
    throw conflict(PODS_BINDING, name, `pod ${name} is already assigned to node ${JSON.stringify(pod.spec.nodeName)}`);
  }
  const { annotations } = metadata;
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      ...(annotations === undefined ? {} : { annotations: { ...pod.metadata.annotations, ...annotations } }),
    },
    spec: extend(pod.spec ?? {}, { nodeName: target?.name }),
    status: { ...pod.status, conditions: scheduled(pod.status?.conditions ?? [], now) },
  };
}

function scheduled(conditions: readonly PodCondition[], now: Date): readonly PodCondition[] {
  const lastTransitionTime = formatDate(now);
  const fresh: PodCondition = { type: 'PodScheduled', status: 'True', lastProbeTime: null, lastTransitionTime };
  const index = conditions.findIndex(({ type }) => type === fresh.type);
  return index < 0 ? [...conditions, fresh] : conditions.with(index, fresh);
}
