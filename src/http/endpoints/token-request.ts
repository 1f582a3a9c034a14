import { invalid, type FieldError } from '../../api/errors/field-error';
import { badRequest, conflict, invalidObject } from '../../api/errors/status-error';
import { parseApiVersion, type KubeObject } from '../../api/object';
import { formatTime } from '../../api/time/rfc3339';
import type { BoundTokenRequest } from '../../authn/service-account-issuer';
import type { Endpoint, EndpointDependencies, ResourceRequest } from './endpoint';
import type { RegistryOperations } from '../../resources/served-resource';
import { readObject } from './read-object';
import { scopeOf } from './resource-request';
import { reviewResponse, decodePosted } from './review';

export interface TokenRequestOptions {
  readonly issue: (request: BoundTokenRequest) => Promise<string>;
  /** Of this server, for requests that name none. */
  readonly audiences: readonly string[];
  /** Longer requests get this; undefined: no bound. */
  readonly maxLifetimeSeconds: number | undefined;
  /** Tokens that admission asked for on behalf of a pod get {@link EXTENDED_LIFETIME_SECONDS}. */
  readonly extendLifetime: boolean;
}

interface ObjectReference {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly name?: string;
  readonly uid?: string;
}

type Bound = Pick<BoundTokenRequest, 'pod' | 'secret'>;

interface TokenRequestSpec {
  readonly audiences?: readonly string[] | null;
  readonly expirationSeconds?: number;
  readonly boundObjectRef?: ObjectReference | null;
}

const KIND = { group: 'authentication.k8s.io', version: 'v1', kind: 'TokenRequest' };
const DEFAULT_LIFETIME_SECONDS = 3600;
const MIN_LIFETIME_SECONDS = 600;
const MAX_LIFETIME_SECONDS = 2 ** 32;
/** An odd number, by which the volumes that admission adds to pods are known. */
const INJECTED_LIFETIME_SECONDS = 3607;
const EXTENDED_LIFETIME_SECONDS = 365 * 24 * 3600;

/** `POST serviceaccounts/{name}/token`: a token of the account, bound to a pod or a secret if the request says so. */
export function tokenRequest({ issue, audiences, maxLifetimeSeconds, extendLifetime }: TokenRequestOptions): Endpoint {
  return async (request, dependencies) => {
    const { context, registry } = request;
    const type = dependencies.catalogue.schema.kind(KIND.group, KIND.version, KIND.kind);
    if (type === undefined) throw new Error('the schema has no TokenRequest');
    const object = await decodePosted(request, dependencies, { kind: KIND, type });
    const { name } = context.info;
    const account = await readObject(registry, scopeOf(request), name, context);
    const sent = (object.spec ?? {}) as TokenRequestSpec;
    const asked = sent.expirationSeconds ?? DEFAULT_LIFETIME_SECONDS;
    const problems = lifetimeProblems(asked);
    if (problems.length > 0) throw invalidObject(KIND, '', problems);
    const reference = sent.boundObjectRef ?? undefined;
    const bound: Bound = reference === undefined ? {} : await bindTo(reference, name, request, dependencies);
    const lifetimeSeconds = Math.min(asked, maxLifetimeSeconds ?? asked);
    const wanted = sent.audiences != null && sent.audiences.length > 0 ? sent.audiences : audiences;
    const now = dependencies.now();
    const extended =
      extendLifetime &&
      lifetimeSeconds === INJECTED_LIFETIME_SECONDS &&
      bound.pod !== undefined &&
      wanted.every((audience) => audiences.includes(audience));
    const token = await issue({
      namespace: context.info.namespace,
      account: named(account),
      ...bound,
      audiences: wanted,
      lifetimeSeconds: extended ? EXTENDED_LIFETIME_SECONDS : lifetimeSeconds,
      ...(extended ? { warnAfterSeconds: lifetimeSeconds } : {}),
      now,
    });
    const response = reviewResponse(object, {
      spec: { audiences: wanted, expirationSeconds: lifetimeSeconds, boundObjectRef: reference ?? null },
      // The client is told the life that was asked for, so that it asks again in time.
      status: { token, expirationTimestamp: formatTime(now / 1000 + lifetimeSeconds) },
    });
    return { type: 'object', code: 201, object: response, struct: type };
  };
}

function lifetimeProblems(seconds: number): readonly FieldError[] {
  const field = 'spec.expirationSeconds';
  if (seconds < MIN_LIFETIME_SECONDS)
    return [invalid(field, seconds, 'may not specify a duration less than 10 minutes')];
  if (seconds > MAX_LIFETIME_SECONDS) {
    return [invalid(field, seconds, 'may not specify a duration larger than 2^32 seconds')];
  }
  return [];
}

function named({ metadata: { name = '', uid = '' } }: KubeObject): { readonly name: string; readonly uid: string } {
  return { name, uid };
}

async function bindTo(
  reference: ObjectReference,
  accountName: string,
  { context }: ResourceRequest,
  dependencies: EndpointDependencies,
): Promise<Bound> {
  const { kind = '', apiVersion = '', name = '', uid = '' } = reference;
  const { group, version } = parseApiVersion(apiVersion);
  if (group !== '' || (kind !== 'Pod' && kind !== 'Secret')) {
    throw badRequest(`cannot bind token to object of type ${group}/${version}, Kind=${kind}`);
  }
  if (name === '') throw badRequest('Name parameter required.');
  const registry = registryOf(dependencies, kind === 'Pod' ? 'pods' : 'secrets');
  const object = await readObject(registry, { namespace: context.info.namespace }, name, context);
  if (kind === 'Pod') {
    const { serviceAccountName } = (object.spec ?? {}) as { readonly serviceAccountName?: string };
    if (serviceAccountName !== accountName) {
      throw badRequest(
        `cannot bind token for serviceaccount ${JSON.stringify(accountName)} to pod running with different serviceaccount name.`,
      );
    }
  }
  if (uid !== '' && uid !== object.metadata.uid) {
    throw conflict(
      { group: '', resource: kind },
      name,
      `the UID in the bound object reference (${uid}) does not match the UID in record. ` +
        'The object might have been deleted and then recreated',
    );
  }
  return kind === 'Pod' ? { pod: named(object) } : { secret: named(object) };
}

function registryOf({ catalogue }: EndpointDependencies, resource: string): RegistryOperations {
  const registry = catalogue.resolve('', 'v1', resource)?.registry;
  if (registry === undefined) throw new Error(`${resource} are not served`);
  return registry;
}
