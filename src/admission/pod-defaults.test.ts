import { admissionRequest, pod, podRequest } from '../../test/fixtures/admission-request';
import type { KubeObject } from '../api/object';
import { alwaysPullImages } from './always-pull-images';
import { admissionChain } from './chain';
import { defaultIngressClass, defaultStorageClass } from './default-class';
import { defaultTolerationSeconds } from './default-toleration-seconds';
import { extendedResourceToleration } from './extended-resource-toleration';
import { priorityAdmission } from './priority';
import { runtimeClassAdmission } from './runtime-class';
import { storageObjectInUseProtection } from './storage-object-in-use-protection';
import { taintNodesByCondition } from './taint-nodes-by-condition';

describe('DefaultTolerationSeconds', () => {
  const chain = admissionChain([defaultTolerationSeconds({ notReady: 30, unreachable: 60 })]);
  const tolerations = async (given: object[]) =>
    ((await chain.mutate(podRequest({ tolerations: given })))?.spec as { tolerations: object[] }).tolerations;
  const notReady = {
    key: 'node.kubernetes.io/not-ready',
    operator: 'Exists',
    effect: 'NoExecute',
    tolerationSeconds: 30,
  };
  const unreachable = { ...notReady, key: 'node.kubernetes.io/unreachable', tolerationSeconds: 60 };

  it('adds what the pod does not mention', async () => {
    expect(await tolerations([])).toEqual([notReady, unreachable]);
    const own = { ...unreachable, tolerationSeconds: 5 };
    expect(await tolerations([own])).toEqual([own, notReady]);
    expect(await tolerations([{ operator: 'Exists' }])).toEqual([{ operator: 'Exists' }]);
  });
});

describe('Priority', () => {
  const classes: Record<string, KubeObject> = {
    high: { metadata: { name: 'high' }, value: 1000, preemptionPolicy: 'PreemptLowerPriority' },
    normal: { metadata: { name: 'normal' }, value: 5, globalDefault: true, preemptionPolicy: 'Never' },
  };
  const chain = admissionChain([
    priorityAdmission({ get: (name) => classes[name], list: () => Object.values(classes) }),
  ]);
  const mutate = async (spec: object) => (await chain.mutate(podRequest(spec)))?.spec;

  it('gives a pod the number of its class, or of the default one', async () => {
    expect(await mutate({ priorityClassName: 'high' })).toMatchObject({ priority: 1000 });
    expect(await mutate({})).toMatchObject({ priorityClassName: 'normal', priority: 5, preemptionPolicy: 'Never' });
  });

  it('refuses unknown classes and other numbers', async () => {
    await expect(mutate({ priorityClassName: 'none' })).rejects.toThrow('no PriorityClass with name none was found');
    await expect(mutate({ priorityClassName: 'high', priority: 7 })).rejects.toThrow(
      'the integer value of priority (7) must not be provided in pod spec; priority admission controller computed 1000',
    );
  });

  it('has one default class', async () => {
    const create = (object: KubeObject) =>
      chain.validate(admissionRequest({ group: 'scheduling.k8s.io', resource: 'priorityclasses', object }));
    await expect(create({ metadata: { name: 'two' }, globalDefault: true })).rejects.toThrow(
      'PriorityClass normal is already marked as default. Only one default can exist',
    );
    await expect(create({ metadata: { name: 'normal' }, globalDefault: true })).resolves.toBeUndefined();
  });
});

describe('DefaultStorageClass and DefaultIngressClass', () => {
  const marked = (name: string, annotation: string) => ({ metadata: { name, annotations: { [annotation]: 'true' } } });
  const storage = marked('fast', 'storageclass.kubernetes.io/is-default-class');
  const claim = (spec: object) =>
    admissionRequest({ resource: 'persistentvolumeclaims', object: { metadata: { name: 'c' }, spec } });

  it('names the default class where none is named', async () => {
    const chain = admissionChain([defaultStorageClass(() => [storage])]);
    expect((await chain.mutate(claim({})))?.spec).toEqual({ storageClassName: 'fast' });
    expect((await chain.mutate(claim({ storageClassName: '' })))?.spec).toEqual({ storageClassName: '' });
  });

  it('cannot choose between two', async () => {
    const chain = admissionChain([defaultStorageClass(() => [storage, storage])]);
    await expect(chain.mutate(claim({}))).rejects.toThrow(
      'Internal error occurred: 2 default StorageClasses were found',
    );
  });

  it('knows ingresses by their group of today only', async () => {
    const chain = admissionChain([
      defaultIngressClass(() => [marked('nginx', 'ingressclass.kubernetes.io/is-default-class')]),
    ]);
    const ingress = (group: string) =>
      chain.mutate(admissionRequest({ group, resource: 'ingresses', object: { metadata: { name: 'i' }, spec: {} } }));
    expect((await ingress('networking.k8s.io'))?.spec).toEqual({ ingressClassName: 'nginx' });
    expect((await ingress('extensions'))?.spec).toEqual({});
  });
});

describe('RuntimeClass', () => {
  const chain = admissionChain([
    runtimeClassAdmission(async (name) =>
      name === 'vm'
        ? {
            metadata: { name },
            overhead: { podFixed: { cpu: '100m' } },
            scheduling: { nodeSelector: { disk: 'ssd' }, tolerations: [{ key: 'k', operator: 'Exists' }] },
          }
        : undefined,
    ),
  ]);

  it('adds overhead, node selector and tolerations', async () => {
    const object = await chain.mutate(podRequest({ runtimeClassName: 'vm', nodeSelector: { zone: 'a' } }));
    expect(object?.spec).toMatchObject({
      overhead: { cpu: '100m' },
      nodeSelector: { zone: 'a', disk: 'ssd' },
      tolerations: [{ key: 'k', operator: 'Exists' }],
    });
  });

  it.each([
    [{ runtimeClassName: 'none' }, 'pod rejected: RuntimeClass "none" not found'],
    [{ runtimeClassName: '' }, 'pod rejected: RuntimeClass "" not found'],
    [
      { runtimeClassName: 'vm', nodeSelector: { disk: 'hdd' } },
      'conflict: runtimeClass.scheduling.nodeSelector[disk] = ssd; pod.spec.nodeSelector[disk] = hdd',
    ],
    [{ runtimeClassName: 'vm', overhead: { cpu: '1' } }, "pod rejected: Pod's Overhead doesn't match"],
  ])('refuses %j', async (spec, text) => {
    await expect(chain.mutate(podRequest(spec))).rejects.toThrow(text);
  });

  it('takes the same overhead in other words, and none without a class', async () => {
    await expect(chain.mutate(podRequest({ runtimeClassName: 'vm', overhead: { cpu: '0.1' } }))).resolves.toBeDefined();
    for (const overhead of [{ cpu: '5m' }, {}]) {
      await expect(chain.validate(podRequest({ overhead }))).rejects.toThrow(
        'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead',
      );
    }
  });
});

describe('small plugins', () => {
  it('TaintNodesByCondition taints new nodes once', async () => {
    const chain = admissionChain([taintNodesByCondition]);
    const taint = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' };
    const node = (spec: object) => admissionRequest({ resource: 'nodes', object: { metadata: { name: 'n' }, spec } });
    expect((await chain.mutate(node({})))?.spec).toEqual({ taints: [taint] });
    expect((await chain.mutate(node({ taints: [taint] })))?.spec).toEqual({ taints: [taint] });
  });

  it('StorageObjectInUseProtection adds its finalizer', async () => {
    const chain = admissionChain([storageObjectInUseProtection]);
    const volume = admissionRequest({ resource: 'persistentvolumes', object: { metadata: { finalizers: ['x/y'] } } });
    expect((await chain.mutate(volume))?.metadata.finalizers).toEqual(['x/y', 'kubernetes.io/pv-protection']);
  });

  it('AlwaysPullImages pulls always', async () => {
    const chain = admissionChain([alwaysPullImages]);
    const object = await chain.mutate(podRequest({ containers: [{ name: 'c', imagePullPolicy: 'Never' }] }));
    expect(object?.spec).toEqual({ containers: [{ name: 'c', imagePullPolicy: 'Always' }] });
    await expect(chain.validate(podRequest({ containers: [{ name: 'c', imagePullPolicy: 'Never' }] }))).rejects.toThrow(
      'spec.containers[0].imagePullPolicy: Unsupported value: "Never"',
    );
  });

  it('ExtendedResourceToleration tolerates the taints of special devices', async () => {
    const chain = admissionChain([extendedResourceToleration]);
    const gpu = (name: string) => ({ name: 'c', resources: { requests: { [name]: '1', cpu: '1' } } });
    const object = await chain.mutate(
      podRequest({ containers: [gpu('b.io/b')], initContainers: [gpu('a.io/a'), gpu('requests.c.io/c')] }),
    );
    expect((object?.spec as { tolerations: object[] }).tolerations).toEqual([
      { key: 'a.io/a', operator: 'Exists', effect: 'NoSchedule' },
      { key: 'b.io/b', operator: 'Exists', effect: 'NoSchedule' },
    ]);
    const plain = podRequest({}, { object: pod() });
    expect(await chain.mutate(plain)).toBe(plain.object);
  });
});
