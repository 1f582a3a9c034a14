import type { KubeObject } from '../../api/object';
import type { AdmissionOperation, AdmissionRequest, EndpointDependencies, ResourceRequest } from '../dependencies';
import { kindOf } from './resource-request';

/** The admission of one write: what stays the same between its calls. */
export interface AdmissionHooks {
  mutate(operation: AdmissionOperation, object: KubeObject, oldObject: KubeObject | undefined): Promise<KubeObject>;
  validate(
    operation: AdmissionOperation,
    object: KubeObject | undefined,
    oldObject: KubeObject | undefined,
  ): Promise<void>;
}

/** `options` are the write's, as admission shows them; `name` is empty where the server is yet to make it up. */
export function admissionHooks(
  request: ResourceRequest,
  { admission }: EndpointDependencies,
  options: Readonly<Record<string, unknown>>,
  dryRun: boolean,
): AdmissionHooks {
  if (admission === undefined) return { mutate: async (_operation, object) => object, validate: async () => undefined };
  const { context, served, user } = request;
  const { info } = context;
  const { group, version } = served.version;
  const attributes = (
    operation: AdmissionOperation,
    object: KubeObject | undefined,
    oldObject: KubeObject | undefined,
  ): AdmissionRequest => ({
    operation,
    resource: { group, version, resource: served.definition.resource },
    kind: request.subresource?.wireKind ?? kindOf(request),
    subresource: info.subresource,
    namespace: info.namespace,
    name: info.named ? info.name : (object?.metadata.name ?? oldObject?.metadata.name ?? ''),
    object,
    oldObject,
    options,
    dryRun,
    user,
    served,
    signal: context.signal,
    warn: (text) => context.warn(text),
    annotate: (key, value) => context.annotate(key, value),
  });
  return {
    mutate: async (operation, object, oldObject) =>
      (await admission.mutate(attributes(operation, object, oldObject))) ?? object,
    validate: (operation, object, oldObject) => admission.validate(attributes(operation, object, oldObject)),
  };
}
