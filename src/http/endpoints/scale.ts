import { decodeObject } from '../../api/codec/json-decode';
import { invalid, required, type FieldError } from '../../api/errors/field-error';
import { internalError, invalidObject, StatusError } from '../../api/errors/status-error';
import type { SubresourceDefinition } from '../../api/kinds/kind-definition';
import type { JsonObject, JsonValue, KubeObject, ObjectMeta } from '../../api/object';
import type { StructType } from '../../api/schema/model';
import type { Preconditions } from '../../registry/types';
import { readBody } from '../body';
import { mediaTypeOf } from '../decode';
import type { Endpoint, EndpointDependencies, ResourceRequest } from '../dependencies';
import { APPLY_PATCH, MERGE_PATCH, patchers } from '../patchers';
import type { Reply } from '../reply';
import { wireFormOf } from '../wire-form';
import { parseWriteOptions, type WriteOptions } from '../write-options';
import { changeObject } from './change';
import { checkName, decodeAs } from './decode-request';
import { scopeOf } from './resource-request';

/** The Scale of a deployment, a replica set, a custom resource: one number of the parent, as an object of its own. */

const SCALE = { group: 'autoscaling', version: 'v1', kind: 'Scale' };
type ScalePaths = NonNullable<SubresourceDefinition['scale']>;

/** The wire's Scale, autoscaling/v1. */
interface Scale extends KubeObject {
  readonly spec?: { readonly replicas?: number };
}

export const getScale: Endpoint = async (request, dependencies) => {
  const { info } = request.context;
  const resourceVersion = info.query.first('resourceVersion') ?? '';
  const entry = await request.registry.get(
    scopeOf(request),
    info.name,
    resourceVersion === '' ? {} : { resourceVersion },
    request.context.signal,
  );
  return scaleReply(request, dependencies, entry.object);
};

export const updateScale: Endpoint = async (request, dependencies) => {
  const { context } = request;
  const { schema } = dependencies.catalogue;
  const { object, options } = await decodeAs(request, schema, SCALE, scaleType(dependencies), () =>
    parseWriteOptions(context.info.query, 'UpdateOptions'),
  );
  checkName(object, context.info.name, context.info.namespace);
  return writeScale(
    request,
    dependencies,
    options,
    () => object,
    preconditionsOf(object),
    !object.metadata.resourceVersion,
  );
};

export const patchScale: Endpoint = async (request, dependencies) => {
  const { context } = request;
  const mediaType = mediaTypeOf(context.request.headers['content-type']);
  const body = await readBody(context);
  const options = parseWriteOptions(context.info.query, 'PatchOptions', mediaType === APPLY_PATCH);
  const patcher = patchers.get(mediaType === APPLY_PATCH ? MERGE_PATCH : mediaType);
  if (patcher === undefined) throw new Error(`no patcher for ${mediaType}`);
  const type = scaleType(dependencies);
  const patch = (scale: () => Scale): Scale => {
    const patched = decodePatchedScale(type, patcher(scale() as unknown as JsonObject, body, type));
    checkName(patched, context.info.name, context.info.namespace);
    return patched;
  };
  return writeScale(request, dependencies, options, patch, {}, true);
};

async function writeScale(
  request: ResourceRequest,
  dependencies: EndpointDependencies,
  options: WriteOptions,
  wantedScale: (current: () => Scale) => Scale,
  preconditions: Preconditions,
  retryOnConflict: boolean,
): Promise<Reply> {
  const { served } = request;
  const paths = scalePaths(request);
  const { entry } = await changeObject(request, dependencies, options, {
    compute: (live) => {
      if (live === undefined) throw new Error('a scale needs its parent');
      const scale = wantedScale(() => toScale(live, paths));
      // What a custom resource's replicas may be, its own validation says.
      if (!served.custom) checkScale(scale, served.definition.namespaced);
      // Ownership follows whole objects only: a scale leaves it as it is (spec, "Field ownership" 8).
      const scaled = withReplicas(live, paths.specReplicasPath, scale.spec?.replicas ?? 0);
      const { resourceVersion } = scale.metadata;
      return resourceVersion ? { ...scaled, metadata: { ...scaled.metadata, resourceVersion } } : scaled;
    },
    preconditions,
    retryOnConflict,
  });
  return scaleReply(request, dependencies, entry.object);
}

function scaleReply(request: ResourceRequest, dependencies: EndpointDependencies, stored: KubeObject): Reply {
  const scale = toScale(wireFormOf(request.served).convert(stored), scalePaths(request));
  return { type: 'object', code: 200, object: scale, struct: scaleType(dependencies) };
}

function scalePaths({ subresource }: ResourceRequest): ScalePaths {
  if (subresource?.scale === undefined) throw new Error('the subresource is no scale');
  return subresource.scale;
}

function scaleType({ catalogue }: EndpointDependencies): StructType {
  const type = catalogue.schema.kind(SCALE.group, SCALE.version, SCALE.kind);
  if (type === undefined) throw new Error('the schema has no Scale');
  return type;
}

/** From the parent: name, identity and version, the wanted and the actual number, and who they are counted by. */
function toScale(parent: KubeObject, { specReplicasPath, statusReplicasPath, selector }: ScalePaths): Scale {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = parent.metadata;
  const replicas = numberAt(parent, specReplicasPath);
  if (replicas === undefined) {
    throw internalError(`the spec replicas field ${JSON.stringify(`.${specReplicasPath.join('.')}`)} does not exist`);
  }
  const counted = selector(parent);
  const metadata = definedOnly({ name, namespace, uid, resourceVersion, creationTimestamp });
  return {
    kind: SCALE.kind,
    apiVersion: 'autoscaling/v1',
    metadata,
    spec: replicas === 0 ? {} : { replicas },
    status: { replicas: numberAt(parent, statusReplicasPath) ?? 0, ...(counted ? { selector: counted } : {}) },
  };
}

function definedOnly(metadata: { readonly [Key in keyof ObjectMeta]: ObjectMeta[Key] | undefined }): ObjectMeta {
  return Object.fromEntries(Object.entries(metadata).filter(([, value]) => value !== undefined));
}

function numberAt(object: KubeObject, path: readonly string[]): number | undefined {
  let value: unknown = object;
  for (const key of path) value = (value as Readonly<Record<string, unknown>> | null | undefined)?.[key];
  return typeof value === 'number' ? value : undefined;
}

function withReplicas(parent: KubeObject, path: readonly string[], replicas: number): KubeObject {
  const set = (value: unknown, [key, ...rest]: readonly string[]): unknown =>
    key === undefined
      ? replicas
      : { ...(value as object), [key]: set((value as Record<string, unknown>)?.[key], rest) };
  return set(parent, path) as KubeObject;
}

function checkScale({ metadata, spec }: Scale, namespaced: boolean): void {
  const errors: FieldError[] = [];
  if (namespaced && !metadata.namespace) errors.push(required('metadata.namespace', ''));
  const replicas = spec?.replicas ?? 0;
  if (replicas < 0) errors.push(invalid('spec.replicas', replicas, 'must be greater than or equal to 0'));
  if (errors.length > 0) throw invalidObject({ group: SCALE.group, kind: SCALE.kind }, metadata.name ?? '', errors);
}

/** Its version is compared like that of any update, with the words of one. */
function preconditionsOf({ metadata: { uid } }: KubeObject): Preconditions {
  return uid ? { uid } : {};
}

function decodePatchedScale(type: StructType, patched: JsonValue): Scale {
  try {
    const options = { applyDefaults: true, collectUnknown: false, kind: SCALE.kind, version: SCALE.version };
    const { object } = decodeObject(type, patched, options);
    return { ...object, kind: SCALE.kind, apiVersion: 'autoscaling/v1' };
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    const { reason, field, message } = invalid('patch', JSON.stringify(patched), error.message);
    throw new StatusError(422, 'Invalid', ` "" is invalid: ${field}: ${message}`, {
      causes: [{ reason, message, field }],
    });
  }
}
