import type { IncomingMessage, ServerResponse } from 'node:http';
import { EventEmitter } from 'node:events';
import type { UserInfo } from '../../api/user';
import type { Attributes } from '../../authz/attributes';
import { RequestContext } from '../request/context';
import { impersonate } from './impersonation';

function contextWith(headers: Readonly<Record<string, readonly string[]>>): RequestContext {
  const request = {
    headers: Object.fromEntries(Object.entries(headers).map(([name, values]) => [name, values.join(', ')])),
    headersDistinct: headers,
  } as unknown as IncomingMessage;
  const response = Object.assign(new EventEmitter(), { setHeader: () => undefined }) as unknown as ServerResponse;
  const context = new RequestContext(request, response);
  context.user = { name: 'admin', groups: ['system:masters'] };
  return context;
}

/** Who a request with these headers acts as, and what had to be allowed for it. */
async function run(
  headers: Readonly<Record<string, readonly string[]>>,
  allowed: (attributes: Attributes) => boolean = () => true,
): Promise<{ readonly user: UserInfo | undefined; readonly asked: readonly string[] }> {
  const context = contextWith(headers);
  const asked: string[] = [];
  await impersonate(context, async (attributes) => {
    asked.push(
      [attributes.group, attributes.resource, attributes.subresource, attributes.namespace, attributes.name].join('|'),
    );
    return { decision: allowed(attributes) ? 'allow' : 'no-opinion', reason: '' };
  });
  return { user: context.user, asked };
}

describe('impersonation', () => {
  it('does nothing without its headers', async () => {
    expect(await run({ accept: ['*/*'] })).toEqual({ user: { name: 'admin', groups: ['system:masters'] }, asked: [] });
  });

  it('reads names as UTF-8', async () => {
    const sent = (text: string): string => Buffer.from(text).toString('latin1');
    const headers = { 'impersonate-user': [sent('jürgen')], 'impersonate-group': [sent('größe')] };
    const { user } = await run(headers);
    expect(user).toMatchObject({ name: 'jürgen', groups: ['größe', 'system:authenticated'] });
  });

  it('takes any name for an extra', async () => {
    const { user, asked } = await run({
      'impersonate-user': ['carol'],
      'impersonate-extra-__proto__': ['a'],
      'impersonate-extra-constructor': ['b'],
    });
    expect(Object.entries(user?.extra ?? {})).toEqual([
      ['__proto__', ['a']],
      ['constructor', ['b']],
    ]);
    expect(asked).toHaveLength(3);
  });

  it('asks for user, groups and extras one by one', async () => {
    const { user, asked } = await run({
      'impersonate-user': ['carol'],
      'impersonate-group': ['dev', 'ops'],
      'impersonate-extra-scopes': ['view', 'edit'],
      'impersonate-extra-acme.com%2fproject': ['some%20value'],
      'impersonate-uid': ['u1'],
    });
    expect(user).toEqual({
      name: 'carol',
      uid: 'u1',
      groups: ['dev', 'ops', 'system:authenticated'],
      extra: { scopes: ['view', 'edit'], 'acme.com/project': ['some%20value'] },
    });
    expect(asked).toEqual([
      '|users|||carol',
      '|groups|||dev',
      '|groups|||ops',
      'authentication.k8s.io|userextras|scopes||view',
      'authentication.k8s.io|userextras|scopes||edit',
      'authentication.k8s.io|userextras|acme.com/project||some%20value',
      'authentication.k8s.io|uids|||u1',
    ]);
  });

  it.each([
    ['system:serviceaccount:n:robot', ['system:serviceaccounts', 'system:serviceaccounts:n', 'system:authenticated']],
    ['system:anonymous', ['system:unauthenticated']],
    ['system:serviceaccount:bad', ['system:authenticated']],
  ])('gives %s its groups', async (name, groups) => {
    expect((await run({ 'impersonate-user': [name] })).user?.groups).toEqual(groups);
  });

  it('gives a service account no groups of its own when some are named', async () => {
    const headers = { 'impersonate-user': ['system:serviceaccount:n:robot'], 'impersonate-group': ['x'] };
    expect((await run(headers)).user?.groups).toEqual(['x', 'system:authenticated']);
  });

  it('needs a user', async () => {
    await expect(run({ 'impersonate-group': ['dev'] })).rejects.toMatchObject({ status: { code: 400 } });
  });

  it.each<[string, Record<string, readonly string[]>, string]>([
    ['a user', { 'impersonate-user': ['bob'] }, 'users "bob"'],
    ['a service account', { 'impersonate-user': ['system:serviceaccount:n:robot'] }, 'serviceaccounts "robot"'],
    [
      'a group',
      { 'impersonate-user': ['bob'], 'impersonate-group': ['dev', 'system:masters'] },
      'groups "system:masters"',
    ],
    ['a uid', { 'impersonate-user': ['bob'], 'impersonate-uid': ['u1'] }, 'uids.authentication.k8s.io "u1"'],
    [
      'one of several values of an extra',
      { 'impersonate-user': ['bob'], 'impersonate-extra-scopes': ['view', 'edit'] },
      'userextras.authentication.k8s.io "edit"',
    ],
  ])('of %s is refused for itself, whatever else is allowed', async (_, headers, what) => {
    const [, wanted = ''] = /"(.*)"/.exec(what) ?? [];
    const refused = run(headers, ({ name }) => name !== wanted);
    await expect(refused).rejects.toMatchObject({ status: { code: 403 } });
    await expect(refused).rejects.toThrow(`${what} is forbidden: User "admin" cannot impersonate resource`);
  });

  it('leaves the one who asks in place when it is refused', async () => {
    const context = contextWith({ 'impersonate-user': ['bob'] });
    await expect(impersonate(context, async () => ({ decision: 'no-opinion', reason: '' }))).rejects.toThrow(
      'forbidden',
    );
    expect(context).toMatchObject({ user: { name: 'admin' }, impersonator: undefined });
  });

  it('names what was refused', async () => {
    const headers = { 'impersonate-user': ['bob'], 'impersonate-extra-scopes': ['edit'] };
    await expect(run(headers, ({ resource }) => resource === 'users')).rejects.toThrow(
      'userextras.authentication.k8s.io "edit" is forbidden: User "admin" cannot impersonate resource "userextras/scopes" in API group "authentication.k8s.io" at the cluster scope',
    );
  });
});
