import { filledInParts } from '../../api/fill-later';
import type { KindDefinition } from '../../api/kinds/kind-definition';
import type { MaybePromise } from '../../api/maybe-promise';
import type { KubeObject } from '../../api/object';
import { MAX_BODY_BYTES, MAX_POSTED_BYTES, readBody } from '../request/body';
import type { RequestContext } from '../request/context';
import { bodyFormat, decodeBody, type Expected } from '../request/decode';
import type { EndpointDependencies, ResourceRequest } from './endpoint';
import type { FieldValidation } from '../request/write-options';
import { kindOf } from './resource-request';

/**
 * Reads the body of a create or an update as the resource's kind in the requested version, with its defaults. The
 * options are read between the body and its decoding, as kube-apiserver does: their errors come after 413 and 415.
 */
export async function decodeObjectOf<Options extends { readonly fieldValidation: FieldValidation }>(
  request: ResourceRequest,
  dependencies: EndpointDependencies,
  parseOptions: () => Options,
): Promise<{ readonly object: KubeObject; readonly options: Options }> {
  const { definition, type, version } = request.served;
  const expected = { kind: kindOf(request), type };
  const decoded = await decodeAs(request, dependencies, expected, parseOptions, MAX_BODY_BYTES);
  const defaulted = withDefaults(request.context, definition, decoded.object, version.version);
  return { options: decoded.options, object: defaulted instanceof Promise ? await defaulted : defaulted };
}

/** The object with the defaults that depend on other fields. */
export function withDefaults(
  context: RequestContext,
  { applyDefaults }: Pick<KindDefinition, 'applyDefaults'>,
  object: KubeObject,
  version: string,
): MaybePromise<KubeObject> {
  if (applyDefaults === undefined) return object;
  return context.givesWay
    ? context.takeSteps(filledInParts(() => applyDefaults(object, version)))
    : applyDefaults(object, version);
}

/** The same for a kind that is not the resource's: the Scale of a deployment, an Eviction, a Binding. */
export async function decodeAs<Options extends { readonly fieldValidation: FieldValidation }>(
  { context, served }: ResourceRequest,
  { catalogue, bodies }: EndpointDependencies,
  expected: Pick<Expected, 'kind' | 'type' | 'alternatives'>,
  parseOptions: () => Options,
  maxBytes = MAX_POSTED_BYTES,
): Promise<{ readonly object: KubeObject; readonly options: Options }> {
  const { kind, type, alternatives = [] } = expected;
  const format = bodyFormat(context.request.headers['content-type']);
  const body = await readBody(context, maxBytes);
  const options = parseOptions();
  const custom = served.custom && type === served.type;
  const { fieldValidation } = options;
  const { schema } = catalogue;
  const decoded = decodeBody(
    context,
    body,
    format,
    { kind, type, custom, fieldValidation, schema, alternatives },
    bodies,
  );
  return { options, object: decoded instanceof Promise ? await decoded : decoded };
}
