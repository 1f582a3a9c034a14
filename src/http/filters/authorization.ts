import { quoteGo } from '../../api/errors/go-quote';
import { StatusError, forbidden } from '../../api/errors/status-error';
import { whenKnown, type MaybePromise } from '../../api/maybe-promise';
import type { Attributes, Authorization, Authorizer } from '../../authz/attributes';
import type { RequestContext } from '../request/context';
import { PlainTextError } from '../response/refusals';

/**
 * Asks the authorizer for the request as it was read. Throws the 403 that names who may not do what where; a 500 when
 * no authorizer allows it and one could not be asked.
 */
export function authorizeRequest(context: RequestContext, authorize: Authorizer): MaybePromise<void> {
  const { info, user } = context;
  if (user === undefined) throw new Error('authorization came before authentication');
  const attributes: Attributes = {
    user,
    verb: info.verb,
    resourceRequest: info.isResourceRequest,
    group: info.group,
    version: info.version,
    resource: info.resource,
    subresource: info.subresource,
    namespace: info.namespace,
    name: info.name,
    path: info.path,
  };
  return whenKnown(authorize(attributes), (response) => enforce(context, attributes, response));
}

function enforce(context: RequestContext, attributes: Attributes, { decision, reason, error }: Authorization): void {
  context.annotate('authorization.k8s.io/decision', decision === 'allow' ? 'allow' : 'forbid');
  context.annotate('authorization.k8s.io/reason', reason);
  if (decision === 'allow') return;
  if (error !== undefined) {
    const uri = JSON.stringify(context.request.url ?? attributes.path);
    throw new PlainTextError(500, `Internal Server Error: ${uri}: ${error}\n`);
  }
  context.response.setHeader('X-Content-Type-Options', 'nosniff');
  throw refusal(attributes, reason);
}

/** The API's wording of a refusal, with the authorizer's reason after it. */
export function refusal(attributes: Attributes, reason: string): StatusError {
  const suffix = reason === '' ? '' : `: ${reason}`;
  const user = quoteGo(attributes.user.name);
  if (!attributes.resourceRequest) {
    const message = `forbidden: User ${user} cannot ${attributes.verb} path ${quoteGo(attributes.path)}${suffix}`;
    return new StatusError(403, 'Forbidden', message, {});
  }
  const { group, resource, subresource, namespace, name, verb } = attributes;
  const what = subresource === '' ? resource : `${resource}/${subresource}`;
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace ${quoteGo(namespace)}`;
  return forbidden(
    { group, resource },
    name,
    `User ${user} cannot ${verb} resource ${quoteGo(what)} in API group ${quoteGo(group)} ${where}${suffix}`,
  );
}
