import { forbiddenField, invalid, notSupported, required, type FieldError } from '../errors/field-error';
import { checkSame } from './immutable';
import type { KubeObject } from '../object';
import type { StatefulSetSpec, StatefulSetStatus, StatefulSetUpdateStrategy } from '../schema/generated/apps-v1';
import type { PodTemplateSpec } from '../schema/generated/core-v1';
import type { LabelSelector } from '../schema/generated/meta-v1';
import { invalidLiteral, labelSelectorLiteral, labelsLiteral } from './go-literal';
import { checkSelected, checkUsable, isEmptySelector, validateLabelSelector } from './label-selector';
import { validateNonNegative, validateNotDecremented } from './numbers';
import { validateAnnotations, validateLabels } from './object-meta';

const MANAGEMENT_POLICIES = ['OrderedReady', 'Parallel'];

function specOf(object: KubeObject): StatefulSetSpec {
  return object['spec'] ?? {};
}

function validateManagementPolicy(policy: string): readonly FieldError[] {
  const field = 'spec.podManagementPolicy';
  if (policy === '') return [required(field, '')];
  return MANAGEMENT_POLICIES.includes(policy)
    ? []
    : [invalid(field, policy, `must be '${MANAGEMENT_POLICIES.join("' or '")}'`)];
}

function strategyLiteral({ type = '', rollingUpdate }: StatefulSetUpdateStrategy): string {
  const update = rollingUpdate
    ? '&apps.RollingUpdateStatefulSetStrategy{}'
    : '(*apps.RollingUpdateStatefulSetStrategy)(nil)';
  return `apps.StatefulSetUpdateStrategy{Type:${JSON.stringify(type)}, RollingUpdate:${update}}`;
}

function validateStrategy(strategy: StatefulSetUpdateStrategy, path: string): readonly FieldError[] {
  const { type = '', rollingUpdate } = strategy;
  switch (type) {
    case '':
      return [required(path, '')];
    case 'OnDelete':
      return rollingUpdate
        ? [
            invalidLiteral(
              `${path}.rollingUpdate`,
              `apps.RollingUpdateStatefulSetStrategy{Partition:${rollingUpdate.partition ?? 0}}`,
              "only allowed for updateStrategy 'RollingUpdate'",
            ),
          ]
        : [];
    case 'RollingUpdate':
      return validateNonNegative(rollingUpdate?.partition, `${path}.rollingUpdate.partition`);
    default:
      return [invalidLiteral(path, strategyLiteral(strategy), "must be 'RollingUpdate' or 'OnDelete'")];
  }
}

function validateSelector(selector: LabelSelector | null | undefined): readonly FieldError[] {
  if (!selector) return [required('spec.selector', '')];
  return [
    ...validateLabelSelector(selector, 'spec.selector'),
    ...(isEmptySelector(selector)
      ? [invalidLiteral('spec.selector', labelSelectorLiteral(selector), 'empty selector is invalid for statefulset')]
      : []),
  ];
}

/** Only the template's metadata is looked at: its pod is checked when one is made of it. */
function validateTemplate(
  { metadata }: PodTemplateSpec,
  selector: LabelSelector | null | undefined,
  path: string,
): readonly FieldError[] {
  const labels = metadata?.labels;
  return [
    ...checkSelected(selector, labels, () => [
      invalidLiteral(`${path}.metadata.labels`, labelsLiteral(metadata), '`selector` does not match template `labels`'),
    ]),
    ...validateLabels(labels, `${path}.labels`),
    ...validateAnnotations(metadata?.annotations, `${path}.annotations`),
  ];
}

/** All problems of a stateful set's spec. */
export function validateStatefulSet(object: KubeObject): readonly FieldError[] {
  const { selector, template = {}, ...spec } = specOf(object);
  const restartPolicy = template.spec?.restartPolicy ?? '';
  return [
    ...validateManagementPolicy(spec.podManagementPolicy ?? ''),
    ...validateStrategy(spec.updateStrategy ?? {}, 'spec.updateStrategy'),
    ...validateNonNegative(spec.replicas, 'spec.replicas'),
    ...validateSelector(selector),
    ...checkUsable(selector, (isUsable) =>
      isUsable
        ? validateTemplate(template, selector, 'spec.template')
        : [invalidLiteral('spec.selector', labelSelectorLiteral(selector), '')],
    ),
    ...(restartPolicy === 'Always'
      ? []
      : [notSupported('spec.template.spec.restartPolicy', restartPolicy, ['Always'])]),
    ...(template.spec?.activeDeadlineSeconds === undefined
      ? []
      : [
          forbiddenField(
            'spec.template.spec.activeDeadlineSeconds',
            'activeDeadlineSeconds in StatefulSet is not Supported',
          ),
        ]),
  ];
}

/** What may change while pods of the set exist. */
const CHANGEABLE: readonly string[] = ['replicas', 'template', 'updateStrategy'];

function fixedPart(object: KubeObject): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(specOf(object)).filter(([name]) => !CHANGEABLE.includes(name)));
}

export function validateStatefulSetUpdate(object: KubeObject, old: KubeObject): readonly FieldError[] {
  const detail =
    "updates to statefulset spec for fields other than 'replicas', 'template', and 'updateStrategy' are forbidden";
  return [
    ...validateStatefulSet(object),
    ...checkSame(fixedPart(object), fixedPart(old), () => [forbiddenField('spec', detail)]),
    ...validateNonNegative(specOf(object).replicas, 'spec.replicas'),
  ];
}

const PARTS = ['readyReplicas', 'currentReplicas', 'updatedReplicas'] as const;
const COUNTS = ['replicas', ...PARTS, 'observedGeneration', 'collisionCount'] as const;

export function validateStatefulSetStatusUpdate(object: KubeObject, old: KubeObject): readonly FieldError[] {
  const status = (object['status'] ?? {}) as StatefulSetStatus;
  const { collisionCount } = (old['status'] ?? {}) as StatefulSetStatus;
  return [
    ...COUNTS.flatMap((field) => validateNonNegative(status[field], `status.${field}`)),
    ...PARTS.filter((field) => (status[field] ?? 0) > (status.replicas ?? 0)).map((field) =>
      invalid(`status.${field}`, status[field] ?? 0, 'cannot be greater than status.replicas'),
    ),
    ...validateNotDecremented(status.collisionCount, collisionCount, 'status.collisionCount'),
  ];
}
