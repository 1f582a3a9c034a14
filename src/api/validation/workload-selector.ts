import { required, type FieldError } from '../errors/field-error';
import type { PodTemplateSpec } from '../schema/generated/core-v1';
import type { LabelSelector } from '../schema/generated/meta-v1';
import { invalidLiteral, labelSelectorLiteral } from './go-literal';
import { checkUsable, isEmptySelector, validateLabelSelector } from './label-selector';
import { validateReplicatedTemplate } from './replicated-template';

/** What deployments and replica sets have in common. */
export interface SelectingSpec {
  readonly selector?: LabelSelector | null;
  readonly template?: PodTemplateSpec;
  readonly replicas?: number;
}

/** The selector, and the template whose pods it must find. */
export function validateSelectorAndTemplate(spec: SelectingSpec, path: string): readonly FieldError[] {
  const { selector, template, replicas = 0 } = spec;
  const field = `${path}.selector`;
  return [
    ...(selector ? validateLabelSelector(selector, field) : [required(field, '')]),
    // The sentence names deployments for replica sets as well.
    ...(selector && isEmptySelector(selector)
      ? [invalidLiteral(field, labelSelectorLiteral(selector), 'empty selector is invalid for deployment')]
      : []),
    ...checkUsable(selector, (isUsable) =>
      isUsable
        ? validateReplicatedTemplate(template ?? {}, selector, replicas, `${path}.template`)
        : [invalidLiteral(field, labelSelectorLiteral(selector), 'invalid label selector')],
    ),
  ];
}
