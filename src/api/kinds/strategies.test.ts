import type { KubeObject } from '../object';
import { prepareDefinitionStatus } from './apiextensions/definition-strategy';
import { defaultDeployment } from './apps/workload-defaults';
import { generateSelector } from './batch/job-selector';
import { lease } from './coordination/lease';
import { finalizeNamespace, prepareNamespaceForCreate, prepareNamespaceForUpdate } from './core/namespace-strategy';
import { mergeStringData } from './core/secret-strategy';
import { deepEqual } from './deep-equal';
import { defaultNetworkPolicy } from './networking/network-policy-defaults';
import { emptyAsNull, keepSpecAndLabels, keepSpecAndMetadata, keepStatus, resetStatus } from './strategies';
import { changed, created, sentAs } from './write.fixture';

const metadata = { name: 'x' };

describe('what a write does besides storing', () => {
  test('a new object starts with a status of the server', () => {
    expect(resetStatus({ replicas: 0 })({ metadata, status: { replicas: 7 } })).toEqual({
      metadata,
      status: { replicas: 0 },
    });
  });

  test('an update leaves the status, also when there was none', () => {
    expect(keepStatus({ metadata, spec: 1, status: 2 }, { metadata, spec: 3, status: 4 })).toEqual({
      metadata,
      spec: 1,
      status: 4,
    });
    expect(keepStatus({ metadata, status: 2 }, { metadata })).toEqual({ metadata });
  });

  test('a status update leaves the spec and, of some kinds, metadata', () => {
    const sent: KubeObject = {
      metadata: { name: 'x', labels: { a: '1' }, annotations: { b: '2' } },
      spec: 1,
      status: 1,
    };
    const old: KubeObject = { metadata: { name: 'x', labels: { o: 'o' } }, spec: 2, status: 2 };
    expect(keepSpecAndLabels(sent, old)).toEqual({
      metadata: { ...sent.metadata, labels: { o: 'o' } },
      spec: 2,
      status: 1,
    });
    expect(keepSpecAndMetadata(sent, old)).toEqual({ metadata: { name: 'x', labels: { o: 'o' } }, spec: 2, status: 1 });
  });

  test('a status update of a definition leaves metadata but its finalizers', () => {
    const old: KubeObject = { metadata: { name: 'x', labels: { o: 'o' }, finalizers: ['a.b/c', 'd.e/f'] }, status: 1 };
    const sent: KubeObject = { metadata: { name: 'x', labels: { a: 'b' }, finalizers: ['d.e/f'] }, status: 2 };
    expect(prepareDefinitionStatus(sent, old)).toEqual({
      metadata: { name: 'x', labels: { o: 'o' }, finalizers: ['d.e/f'] },
      status: 2,
    });
  });

  test('empty lists in the fields that are named become null, other values and other fields stay', () => {
    const prepare = emptyAsNull('spec.drivers', 'spec.drivers.*.topologyKeys', 'rules');
    const drivers = [{ topologyKeys: [] }, { topologyKeys: ['k'] }, {}];
    expect(prepare({ metadata, rules: [], others: [], spec: { drivers } })).toEqual({
      metadata,
      rules: null,
      others: [],
      spec: { drivers: [{ topologyKeys: null }, { topologyKeys: ['k'] }, {}] },
    });
    expect(prepare({ metadata, spec: { drivers: [] } })).toEqual({ metadata, spec: { drivers: null } });
    const filled: KubeObject = { metadata, rules: [{ verbs: [] }], spec: {} };
    expect(prepare(filled)).toEqual(filled);
  });

  test('a lease says nothing of elections, unless it did before', () => {
    const plain: KubeObject = { metadata, spec: { holderIdentity: 'h' } };
    const elected: KubeObject = { metadata, spec: { holderIdentity: 'h', strategy: 's', preferredHolder: 'p' } };
    const { prepareForCreate, prepareForUpdate } = lease.strategy;
    expect(prepareForCreate?.(elected)).toEqual(plain);
    expect(prepareForUpdate?.(elected, plain)).toEqual(plain);
    expect(prepareForUpdate?.(elected, elected)).toEqual(elected);
    expect(prepareForCreate?.(plain)).toBe(plain);
  });

  test.each([
    ['v1 LimitRange', { spec: { limits: [] } }, { spec: { limits: null } }],
    [
      'discovery.k8s.io/v1 EndpointSlice',
      { addressType: 'IPv4', endpoints: [], ports: [] },
      { endpoints: null, ports: null },
    ],
    ['discovery.k8s.io/v1beta1 EndpointSlice', { addressType: 'IPv4' }, { endpoints: null }],
    ['storage.k8s.io/v1 CSINode', { spec: { drivers: [] } }, { spec: { drivers: null } }],
    [
      'storage.k8s.io/v1 CSINode',
      { spec: { drivers: [{ name: 'd', nodeID: 'n', topologyKeys: [] }] } },
      { spec: { drivers: [{ name: 'd', nodeID: 'n', topologyKeys: null }] } },
    ],
    ['rbac.authorization.k8s.io/v1 Role', { rules: [] }, { rules: null }],
    ['rbac.authorization.k8s.io/v1beta1 ClusterRole', { rules: [] }, { rules: null }],
  ])('a %s of %j is stored with null, when it is new and when it changes', (kind, fields, stored) => {
    const sent = sentAs(kind);
    const fresh = created(sent, { metadata, ...fields });
    expect(fresh).toMatchObject(stored);
    expect(changed(sent, fresh, fields)).toMatchObject(stored);
  });

  test('a new namespace is active and finalized by the system', () => {
    expect(
      prepareNamespaceForCreate({ metadata, spec: { finalizers: ['a/b'] }, status: { phase: 'Terminating' } }),
    ).toEqual({
      metadata: { name: 'x' },
      spec: { finalizers: ['a/b', 'kubernetes'] },
      status: { phase: 'Active' },
    });
  });

  test('finalizers of a namespace change by its finalize subresource only', () => {
    const old = { metadata, spec: { finalizers: ['kubernetes'] }, status: { phase: 'Active' } };
    const sent = { metadata, spec: { finalizers: [] }, status: { phase: 'Terminating' } };
    expect(prepareNamespaceForUpdate(sent, old)).toEqual(old);
    expect(finalizeNamespace(sent, old)).toEqual({ metadata, spec: { finalizers: [] }, status: { phase: 'Active' } });
  });

  test('texts of a secret become data and win over data', () => {
    const secret = { metadata, data: { b: 'Yg==', a: 'YQ==', n: null }, stringData: { a: 'ä' } };
    expect(mergeStringData(secret)).toEqual({ metadata, data: { a: 'w6Q=', b: 'Yg==', n: '' } });
    expect(mergeStringData({ metadata })).toEqual({ metadata });
  });

  test.each([
    ['nothing', {}, ['Ingress']],
    ['ingress rules', { ingress: [{}] }, ['Ingress']],
    ['egress rules', { egress: [{}] }, ['Ingress', 'Egress']],
    ['an empty egress section', { egress: [] }, ['Ingress']],
    ['its types', { policyTypes: ['Egress'] }, ['Egress']],
  ])('a network policy that says %s has these types', (_case, spec, policyTypes) => {
    expect(defaultNetworkPolicy({ metadata, spec })).toEqual({ metadata, spec: { ...spec, policyTypes } });
  });

  test('a rolling update has parameters, a recreation has not', () => {
    expect(defaultDeployment({ metadata, spec: { strategy: { type: 'RollingUpdate' } } })).toEqual({
      metadata,
      spec: { strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '25%', maxSurge: '25%' } } },
    });
    const recreate = { metadata, spec: { strategy: { type: 'Recreate' } } };
    expect(defaultDeployment(recreate)).toEqual(recreate);
  });

  test('the image tag decides whether an image is pulled each time', () => {
    const pulled = (image: string) => {
      const spec = { template: { spec: { containers: [{ image }] } }, strategy: { type: 'Recreate' } };
      return defaultDeployment({ metadata, spec });
    };
    const policy = (object: KubeObject) => JSON.stringify(object).match(/"imagePullPolicy":"(\w+)"/)?.[1];
    expect(
      ['i', 'i:latest', 'r:5000/i', 'i:1', 'r:5000/i:1', 'i@sha256:0'].map((image) => policy(pulled(image))),
    ).toEqual(['Always', 'Always', 'Always', 'IfNotPresent', 'IfNotPresent', 'IfNotPresent']);
  });

  test('a job selects its pods by its uid, unless the client chooses', () => {
    const job = { metadata: { name: 'j', uid: 'u' }, spec: { template: { spec: {} } } };
    expect(generateSelector(job).spec).toEqual({
      selector: { matchLabels: { 'controller-uid': 'u' } },
      template: { spec: {}, metadata: { labels: { 'controller-uid': 'u', 'job-name': 'j' } } },
    });
    const manual = { ...job, spec: { ...job.spec, manualSelector: true } };
    expect(generateSelector(manual)).toBe(manual);
  });

  test.each([
    [{ a: 1, b: [1, { c: 2 }] }, { b: [1, { c: 2 }], a: 1 }, true],
    [{ a: undefined }, {}, true],
    [{ a: [] }, {}, true],
    [{ a: null }, {}, true],
    [{ a: 0 }, {}, false],
    [{}, null, false],
    [[1, 2], [2, 1], false],
    ['1', 1, false],
  ])('%j equals %j: %s', (left, right, expected) => {
    expect(deepEqual(left, right)).toBe(expected);
  });
});
