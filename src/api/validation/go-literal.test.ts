import { decodeObject } from '../codec/json-decode';
import { valueAt } from '../kinds/field-values';
import type { KubeObject } from '../object';
import { loadBuiltinSchema } from '../schema/builtin-schema';
import type { PodTemplateSpec } from '../schema/generated/core-v1';
import { validateCsiNodeUpdate } from './csi';
import { labelSelectorLiteral } from './go-literal';
import { validatePersistentVolume } from './persistent-volume';
import { validateReplicatedTemplate } from './replicated-template';

const schema = loadBuiltinSchema();
const replicaSet = schema.kind('apps', 'v1', 'ReplicaSet');
const persistentVolume = schema.kind('', 'v1', 'PersistentVolume');

function specOf(spec: unknown): unknown {
  if (replicaSet === undefined) throw new Error('the schema has no ReplicaSet');
  return valueAt(decodeObject(replicaSet, { spec }, { applyDefaults: true, collectUnknown: false }).object, 'spec');
}

function selectorText(labels: string): string {
  return `v1.LabelSelector{MatchLabels:map[string]string${labels}, MatchExpressions:[]v1.LabelSelectorRequirement(nil)}`;
}

test.each([
  ['{}', { matchLabels: {} }],
  ['(nil)', {}],
  ['(nil)', { matchLabels: null }],
])('the labels of a selector are %s as they were sent', (labels, selector) => {
  expect(labelSelectorLiteral(valueAt(specOf({ selector }), 'selector'))).toBe(selectorText(labels));
});

test.each([
  ['{}', { labels: {} }],
  ['(nil)', { name: 'x' }],
])('the labels of a template are %s as they were sent', (labels, metadata) => {
  const template = valueAt(specOf({ template: { metadata } }), 'template') as PodTemplateSpec;
  const problems = validateReplicatedTemplate(template, { matchLabels: { app: 'a' } }, 1, 'spec.template');
  expect(problems[0]?.message).toBe(
    `Invalid value: map[string]string${labels}: \`selector\` does not match template \`labels\``,
  );
});

test.each([
  ['{}', { capacity: {} }],
  ['(nil)', {}],
])('the capacity of a volume is %s as it was sent', (capacity, spec) => {
  if (persistentVolume === undefined) throw new Error('the schema has no PersistentVolume');
  const sent = { metadata: { name: 'x' }, spec };
  const { object } = decodeObject(persistentVolume, sent, { applyDefaults: true, collectUnknown: false });
  const messages = validatePersistentVolume(object).map(({ message }) => message);
  expect(messages).toContain(`Unsupported value: core.ResourceList${capacity}: supported values: "storage"`);
});

test('a changed driver of a CSINode is shown with all its fields', () => {
  const node = (driver: object): KubeObject => ({
    apiVersion: 'storage.k8s.io/v1',
    kind: 'CSINode',
    metadata: { name: 'n' },
    spec: { drivers: [{ name: 'd.example.com', nodeID: 'n1', ...driver }] },
  });
  expect(validateCsiNodeUpdate(node({ topologyKeys: ['zone'] }), node({})).map(({ message }) => message)).toStrictEqual(
    [
      'Invalid value: storage.CSINodeDriver{Name:"d.example.com", NodeID:"n1", TopologyKeys:[]string{"zone"}, ' +
        'Allocatable:(*storage.VolumeNodeResources)(nil)}: field is immutable',
    ],
  );
});
