import { badRequest } from '../../api/errors/status-error';
import {
  ANONYMOUS_USER,
  AUTHENTICATED_GROUP,
  UNAUTHENTICATED_GROUP,
  parseServiceAccountUserName,
  type UserInfo,
} from '../../api/user';
import type { Attributes, Authorizer } from '../../authz/attributes';
import { refusal } from './authorization';
import type { RequestContext } from '../request/context';
import { headerText } from '../request/header-text';

/** Whom a request wants to act as, read from its headers. */
interface Wanted {
  readonly user: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

const EXTRA_PREFIX = 'impersonate-extra-';
const AUTHENTICATION = { group: 'authentication.k8s.io', version: 'v1' };

/**
 * Puts another user in the place of the one who asks (spec, "Impersonation"): each of user, groups and extras is
 * checked by itself with the verb `impersonate`. Who is impersonated gets exactly the groups that were asked for, and
 * system:authenticated.
 */
export function impersonate(context: RequestContext, authorize: Authorizer): Promise<void> | undefined {
  const wanted = readHeaders(context);
  return wanted === undefined ? undefined : replaceUser(context, authorize, wanted);
}

async function replaceUser(context: RequestContext, authorize: Authorizer, wanted: Wanted): Promise<void> {
  const { user } = context;
  if (user === undefined) throw new Error('impersonation came before authentication');
  if (wanted.user === '') throw badRequest('impersonation of a group, a uid or an extra without a user to impersonate');
  for (const attributes of checks(user, wanted)) {
    const { decision, reason } = await authorize(attributes);
    if (decision === 'allow') continue;
    context.response.setHeader('X-Content-Type-Options', 'nosniff');
    throw refusal(attributes, reason);
  }
  context.impersonator = user;
  context.user = impersonated(wanted);
  for (const name of Object.keys(context.request.headers)) {
    if (name.startsWith('impersonate-')) delete context.request.headers[name];
  }
}

function readHeaders({ request }: RequestContext): Wanted | undefined {
  const { headers } = request;
  let any = false;
  const extra = new Map<string, readonly string[]>();
  let groups: readonly string[] = [];
  for (const name in headers) {
    if (!name.startsWith('impersonate-')) continue;
    any = true;
    const values = (request.headersDistinct[name] ?? []).map(headerText);
    if (name === 'impersonate-group') groups = values.filter((group) => group !== '');
    else if (name.startsWith(EXTRA_PREFIX)) extra.set(unescapeKey(name.slice(EXTRA_PREFIX.length)), values);
  }
  if (!any) return undefined;
  const user = first(headers['impersonate-user']);
  const uid = first(headers['impersonate-uid']);
  if (user === '' && uid === '' && groups.length === 0 && extra.size === 0) return undefined;
  return { user, uid, groups, extra: Object.fromEntries(extra) };
}

function first(value: string | readonly string[] | undefined): string {
  return headerText((typeof value === 'string' ? value : value?.[0]) ?? '');
}

function unescapeKey(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}

function* checks(user: UserInfo, wanted: Wanted): Iterable<Attributes> {
  const common = {
    user,
    verb: 'impersonate',
    resourceRequest: true,
    version: '',
    subresource: '',
    namespace: '',
    path: '',
  };
  const account = parseServiceAccountUserName(wanted.user);
  yield account === undefined
    ? { ...common, group: '', resource: 'users', name: wanted.user }
    : { ...common, group: '', resource: 'serviceaccounts', namespace: account.namespace, name: account.name };
  for (const name of wanted.groups) yield { ...common, group: '', resource: 'groups', name };
  for (const [key, values] of Object.entries(wanted.extra)) {
    for (const name of values) {
      yield { ...common, ...AUTHENTICATION, resource: 'userextras', subresource: key, name };
    }
  }
  if (wanted.uid !== '') yield { ...common, ...AUTHENTICATION, resource: 'uids', name: wanted.uid };
}

function impersonated({ user, uid, groups, extra }: Wanted): UserInfo {
  const account = parseServiceAccountUserName(user);
  const own =
    groups.length === 0 && account !== undefined
      ? ['system:serviceaccounts', `system:serviceaccounts:${account.namespace}`]
      : groups;
  const implied = user === ANONYMOUS_USER ? UNAUTHENTICATED_GROUP : AUTHENTICATED_GROUP;
  const already = own.includes(AUTHENTICATED_GROUP) || own.includes(UNAUTHENTICATED_GROUP);
  return {
    name: user,
    groups: already ? own : [...own, implied],
    ...(uid === '' ? {} : { uid }),
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  };
}
