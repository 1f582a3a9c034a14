import { filledInParts } from '../../fill-later';
import type { Pod } from '../../schema/generated/core-v1';
import { take } from '../../steps/both-forms.fixture';
import { counted, mostReads } from '../../steps/counted.fixture';
import { defaultPod, podTemplateDefaults } from './pod-defaults';

function defaulted(spec: object, status?: object): Pod {
  return defaultPod({ metadata: { name: 'p' }, spec, ...(status === undefined ? {} : { status }) });
}

describe('the defaults of a pod', () => {
  test('what limits a resource requests it, in pods and not in templates', () => {
    const spec = {
      containers: [
        { name: 'c', image: 'i:1', resources: { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '500m' } } },
      ],
    };
    expect(defaulted(spec).spec?.containers?.[0]?.resources?.requests).toEqual({ cpu: '500m', memory: '1Gi' });
    expect(podTemplateDefaults({ spec })).toMatchObject({
      spec: { containers: [{ resources: { requests: { cpu: '500m' } } }] },
    });
    expect(JSON.stringify(podTemplateDefaults({ spec }))).not.toContain('enableServiceLinks');
    expect(defaulted(spec).spec?.enableServiceLinks).toBe(true);
  });

  test('amounts finer than a thousandth are rounded up', () => {
    const limits = { cpu: '100u', memory: '100m', 'ephemeral-storage': '1n' };
    const { spec } = defaulted({ containers: [{ resources: { limits } }] });
    expect(spec?.containers?.[0]?.resources?.limits).toEqual({ cpu: '1m', memory: '100m', 'ephemeral-storage': '1m' });
  });

  test('thousands of amounts are rounded, and requested where they are limited, a few at a time', () => {
    const count = 2_000;
    const amounts = (of: string) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`example.com/r${index}`, of]));
    const resources = { limits: { ...amounts('1'), memory: '100u' }, requests: { cpu: '1n' } };
    const object = { metadata: { name: 'p' }, spec: { containers: [{ resources }], overhead: amounts('1500u') } };
    const { result } = take(filledInParts(() => defaultPod(object)));
    expect(result).toEqual(defaultPod(object));
    expect(result.spec).toMatchObject({
      containers: [
        {
          resources: {
            limits: { ...amounts('1'), memory: '1m' },
            requests: { ...amounts('1'), memory: '1m', cpu: '1m' },
          },
        },
      ],
      overhead: amounts('2m'),
    });
    expect(mostReads(filledInParts(() => defaultPod(counted(object))))).toBeLessThan(count / 2);
  });

  test('with the network of the node, ports of containers are ports of the node', () => {
    const ports = [{ containerPort: 80 }, { containerPort: 81, hostPort: 82 }, { hostPort: 0, containerPort: 83 }];
    const { spec } = defaulted({ hostNetwork: true, containers: [{ ports }], initContainers: [{ ports }] });
    expect(spec?.containers?.[0]?.ports?.map(({ hostPort }) => hostPort)).toEqual([80, 82, 83]);
    expect(spec?.initContainers?.[0]?.ports?.map(({ hostPort }) => hostPort)).toEqual([80, 82, 83]);
    expect(defaulted({ containers: [{ ports }] }).spec?.containers?.[0]?.ports).toEqual(ports);
  });

  test.each([
    [{ serviceAccount: 'a' }, 'a'],
    [{ serviceAccountName: 'a' }, 'a'],
    [{ serviceAccountName: 'a', serviceAccount: 'b' }, 'a'],
    [{}, undefined],
  ])('%j runs as %s', (names, expected) => {
    const { spec } = defaulted(names);
    expect([spec?.serviceAccountName, spec?.serviceAccount]).toEqual([expected, expected]);
  });

  test('a volume that says nothing is an empty folder', () => {
    const { spec } = defaulted({ volumes: [{ name: 'a' }, { name: 'b', hostPath: { path: '/b' } }] });
    expect(spec?.volumes).toEqual([
      { name: 'a', emptyDir: {} },
      { name: 'b', hostPath: { path: '/b' } },
    ]);
  });

  test.each([
    ['one address', { podIP: '1.1.1.1' }, '1.1.1.1', ['1.1.1.1']],
    ['a list', { podIPs: [{ ip: '1.1.1.1' }, { ip: '::1' }] }, '1.1.1.1', ['1.1.1.1', '::1']],
    ['a list that begins otherwise', { podIP: '1.1.1.1', podIPs: [{ ip: '2.2.2.2' }] }, '1.1.1.1', ['1.1.1.1']],
    ['both', { podIP: '::1', podIPs: [{ ip: '::1' }, { ip: '1.1.1.1' }] }, '::1', ['::1', '1.1.1.1']],
  ])('the status keeps its two fields of addresses together: %s', (_what, status, podIP, list) => {
    const found = defaulted({}, status).status;
    expect(found?.podIP).toBe(podIP);
    expect(found?.podIPs?.map(({ ip }) => ip)).toEqual(list);
  });

  test('annotations of clients from before init containers are dropped', () => {
    const annotations = { 'pod.beta.kubernetes.io/init-containers': '[]', kept: 'x' };
    const pod = defaultPod({ metadata: { name: 'p', annotations }, spec: {} });
    expect(pod.metadata.annotations).toEqual({ kept: 'x' });
  });

  test('defaults change nothing that they have set, and never their input', () => {
    const object = Object.freeze({
      metadata: Object.freeze({ name: 'p' }),
      spec: Object.freeze({
        hostNetwork: true,
        overhead: { cpu: '1u' },
        serviceAccount: 'a',
        volumes: Object.freeze([{ name: 'v' }]),
        containers: Object.freeze([Object.freeze({ name: 'c', image: 'i', resources: { limits: { cpu: '1n' } } })]),
        ephemeralContainers: [{ name: 'e', image: 'e:1' }],
      }),
      status: { podIP: '1.1.1.1' },
    });
    const once = defaultPod(object);
    expect(defaultPod(once)).toEqual(once);
  });
});
