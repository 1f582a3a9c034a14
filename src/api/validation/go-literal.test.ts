import { decodeObject } from '../codec/json-decode';
import { valueAt } from '../kinds/field-values';
import { loadBuiltinSchema } from '../schema/builtin-schema';
import type { PodTemplateSpec } from '../schema/generated/core-v1';
import { labelSelectorLiteral } from './go-literal';
import { validateReplicatedTemplate } from './replicated-template';

const replicaSet = loadBuiltinSchema().kind('apps', 'v1', 'ReplicaSet');

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
