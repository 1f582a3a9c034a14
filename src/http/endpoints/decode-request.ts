import type { GroupVersionKind, KubeObject } from '../../api/object';
import type { StructType } from '../../api/schema/model';
import { readBody } from '../body';
import { bodyFormat, decodeBody, type Expected } from '../decode';
import type { EndpointDependencies, ResourceRequest } from '../dependencies';
import type { FieldValidation } from '../write-options';
import { kindOf } from './resource-request';

/**
 * Reads the body of a create or an update as the resource's kind in the requested version, with its defaults. The
 * options are read between the body and its decoding, as kube-apiserver does: their errors come after 413 and 415.
 */
export async function decodeObjectOf<Options extends { readonly fieldValidation: FieldValidation }>(
  request: ResourceRequest,
  { catalogue }: EndpointDependencies,
  parseOptions: () => Options,
): Promise<{ readonly object: KubeObject; readonly options: Options }> {
  const { definition, type, version } = request.served;
  const decoded = await decodeAs(request, catalogue.schema, kindOf(request), type, parseOptions);
  if (definition.applyDefaults === undefined) return decoded;
  return { options: decoded.options, object: definition.applyDefaults(decoded.object, version.version) };
}

/** The same for a kind that is not the resource's: the Scale of a deployment, an Eviction, a Binding. */
export async function decodeAs<Options extends { readonly fieldValidation: FieldValidation }>(
  { context, served }: ResourceRequest,
  schema: EndpointDependencies['catalogue']['schema'],
  kind: GroupVersionKind,
  type: StructType,
  parseOptions: () => Options,
  alternatives: Expected['alternatives'] = [],
): Promise<{ readonly object: KubeObject; readonly options: Options }> {
  const format = bodyFormat(context.request.headers['content-type']);
  const body = await readBody(context);
  const options = parseOptions();
  const custom = served.custom && type === served.type;
  const { fieldValidation } = options;
  return {
    options,
    object: decodeBody(context, body, format, { kind, type, custom, fieldValidation, schema, alternatives }),
  };
}
