import type { KubeObject } from '../../api/object';
import { admissionRequest } from '../../../test/fixtures/admission-request';
import type { AdmissionAttributes } from '../plugin';
import { compileConfiguration } from './compile';
import type { VersionedResource } from '../versions/object-versions';
import { inNamespace, selectsObject } from './selectors';
import { WebhookIndex } from './webhook-index';

function configuration(name: string, ...webhooks: readonly object[]): KubeObject {
  return { metadata: { name }, webhooks };
}

const EVERYTHING = { operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*'], scope: '*' };

function hook(rule: object, more: object = {}): object {
  const rules = [{ ...EVERYTHING, ...rule }];
  return { name: 'a.example.io', rules, namespaceSelector: {}, objectSelector: {}, ...more };
}

/** How often the other versions of a resource were asked for. */
let lookups = 0;
let generation = 1;

function indexOf(...webhooks: readonly object[]): WebhookIndex {
  lookups = 0;
  const index = new WebhookIndex({
    generation: () => generation,
    equivalents: (of): readonly VersionedResource[] => {
      lookups += 1;
      return of.resource === 'ingresses'
        ? [
            {
              ...of,
              group: 'networking.k8s.io',
              version: 'v1',
              kind: { ...of.kind, group: 'networking.k8s.io', version: 'v1' },
            },
          ]
        : [];
    },
  });
  index.changed(() => compileConfiguration(configuration('c', ...webhooks), 'validating'));
  return index;
}

const matches = (rule: object, request: Partial<AdmissionAttributes>, more: object = {}): boolean =>
  indexOf(hook(rule, more)).candidates(admissionRequest(request)).length > 0;

describe('a rule', () => {
  const rows: readonly (readonly [string, object, Partial<AdmissionAttributes>, boolean])[] = [
    ['with a star is about all resources', {}, {}, true],
    ['with a star is about no subresource', {}, { subresource: 'status' }, false],
    ['with */* is about everything', { resources: ['*/*'] }, { subresource: 'status' }, true],
    ['with */* is about resources, too', { resources: ['*/*'] }, {}, true],
    [
      'with pods/* is about the subresources of pods',
      { resources: ['pods/*'] },
      { resource: 'pods', subresource: 'log' },
      true,
    ],
    ['with pods/* is not about those of others', { resources: ['pods/*'] }, { subresource: 'log' }, false],
    ['with */scale is about all scales', { resources: ['*/scale'] }, { subresource: 'scale' }, true],
    ['of another operation is not about it', { operations: ['DELETE'] }, {}, false],
    ['of another group is not about it', { apiGroups: ['apps'] }, {}, false],
    ['of the core group is', { apiGroups: [''] }, {}, true],
    ['of another version is not about it', { apiVersions: ['v2'] }, {}, false],
    ['for namespaces is about what stands in one', { scope: 'Namespaced' }, {}, true],
    ['for namespaces is not about one itself', { scope: 'Namespaced' }, { resource: 'namespaces' }, false],
    ['for the cluster is about a namespace', { scope: 'Cluster' }, { resource: 'namespaces' }, true],
    ['for the cluster is not about what stands in one', { scope: 'Cluster' }, {}, false],
    ['for the cluster is about what stands in none', { scope: 'Cluster' }, { namespace: '' }, true],
  ];
  it.each(rows)('%s', (_what, rule, request, expected) => {
    expect(matches(rule, request)).toBe(expected);
  });

  it('is about another version of the same objects, if Equivalent, and then sees that one', () => {
    const rule = { apiGroups: ['networking.k8s.io'], apiVersions: ['v1'], resources: ['ingresses'] };
    const request = { group: 'extensions', version: 'v1beta1', resource: 'ingresses' };
    expect(matches(rule, request, { matchPolicy: 'Exact' })).toBe(false);
    const [found] = indexOf(hook(rule, { matchPolicy: 'Equivalent' })).candidates(admissionRequest(request));
    expect(found?.seenAs).toMatchObject({ group: 'networking.k8s.io', version: 'v1' });
  });

  it('is never about webhooks and policies themselves', () => {
    const group = 'admissionregistration.k8s.io';
    for (const resource of [
      'mutatingwebhookconfigurations',
      'validatingwebhookconfigurations',
      'validatingadmissionpolicies',
    ])
      expect(matches({}, { group, resource })).toBe(false);
  });
});

describe('what is found for a request', () => {
  it('is remembered until webhooks or resources change', () => {
    const index = indexOf(hook({}));
    for (let count = 0; count < 3; count++) index.candidates(admissionRequest());
    expect(lookups).toBe(1);
    generation += 1;
    index.candidates(admissionRequest());
    expect(lookups).toBe(2);
    index.changed(() => []);
    expect(index.candidates(admissionRequest())).toEqual([]);
  });

  it('is looked for once in each namespace, however many webhooks there are', () => {
    let looks = 0;
    const labels = new Proxy(
      { a: 'b' },
      { getOwnPropertyDescriptor: (target, key) => (looks++, Reflect.getOwnPropertyDescriptor(target, key)) },
    );
    const namespaceSelector = { matchLabels: { other: 'x' } };
    const index = indexOf(...Array.from({ length: 100 }, () => hook({}, { namespaceSelector })));
    const found = index.candidates(admissionRequest());
    expect(inNamespace(found, { kind: 'labels', labels })).toEqual([]);
    const once = looks;
    expect(inNamespace(index.candidates(admissionRequest()), { kind: 'labels', labels })).toEqual([]);
    expect({ once: once > 0, again: looks - once }).toEqual({ once: true, again: 0 });
  });
});

describe('selectors', () => {
  const compiled = (more: object) => compileConfiguration(configuration('c', hook({}, more)), 'validating')[0]!;
  const labelled = (labels: Record<string, string>): KubeObject => ({ metadata: { labels } });
  const selector = { objectSelector: { matchLabels: { a: 'b' } } };

  it('look at the object and at the one that it replaces', () => {
    const request = (object: KubeObject, oldObject?: KubeObject) =>
      admissionRequest({ operation: 'UPDATE', object, oldObject });
    const selects = (object: KubeObject, old?: KubeObject) =>
      selectsObject(compiled(selector), request(object, old), object);
    expect(selects(labelled({ a: 'b' }))).toBe(true);
    expect(selects(labelled({}), labelled({ a: 'b' }))).toBe(true);
    expect(selects(labelled({}), labelled({}))).toBe(false);
  });

  it('never match the options of a connection, unless they are empty', () => {
    const options: KubeObject = { kind: 'PodExecOptions', metadata: {} };
    const request = admissionRequest({ operation: 'CONNECT', object: options });
    const none = { objectSelector: { matchExpressions: [{ key: 'a', operator: 'DoesNotExist' }] } };
    expect(selectsObject(compiled(none), request, options)).toBe(false);
    expect(selectsObject(compiled({}), request, options)).toBe(true);
  });

  it('that are absent match nothing, and those that cannot be read are a problem of the webhook', () => {
    expect(selectsObject(compiled({ objectSelector: null }), admissionRequest(), labelled({}))).toBe(false);
    const odd = compiled({ objectSelector: { matchExpressions: [{ key: 'a', operator: 'Odd' }] } });
    expect(odd.problem).toContain('"Odd" is not a valid label selector operator');
  });

  it('refuse a request in a namespace that is not there when they have to look at it', () => {
    const found = indexOf(hook({}, { namespaceSelector: { matchLabels: { a: 'b' } } })).candidates(admissionRequest());
    expect(() => inNamespace(found, { kind: 'missing', name: 'ns' })).toThrow('namespaces "ns" not found');
  });
});
