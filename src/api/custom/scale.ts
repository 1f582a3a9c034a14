import { printGoValue } from '../apply/go-text';
import { invalid, type FieldError } from '../errors/field-error';
import { valueAt } from '../kinds/field-values';
import type { SubresourceDefinition } from '../kinds/kind-definition';
import { scaleSubresource } from '../kinds/subresources';
import type { JsonValue, KubeObject } from '../object';
import type { ScalePaths } from './custom-resource-definition';

const MAX_REPLICAS = 2 ** 31 - 1;

/** `.spec.replicas` */
export function fieldPath(text: string): readonly string[] {
  return text.replace(/^\./, '').split('.');
}

/** The scale of a custom kind, with its numbers where the definition says. */
export function customScale(paths: ScalePaths): SubresourceDefinition {
  const { specReplicasPath, statusReplicasPath, labelSelectorPath = '' } = paths;
  const selectorPath = labelSelectorPath === '' ? undefined : fieldPath(labelSelectorPath);
  return {
    ...scaleSubresource(),
    scale: {
      specReplicasPath: fieldPath(specReplicasPath),
      statusReplicasPath: fieldPath(statusReplicasPath),
      selector: (parent) => selectorPath && valueAt(parent, ...selectorPath),
    },
  };
}

/** What stands at the paths of a scale must be what a scale can show. */
export function validateScaleFields(object: KubeObject, paths: ScalePaths): readonly FieldError[] {
  const { specReplicasPath, statusReplicasPath, labelSelectorPath = '' } = paths;
  const errors = [specReplicasPath, statusReplicasPath].flatMap((path) => replicasProblem(object, path));
  if (labelSelectorPath === '') return errors;
  const selector = valueAt(object, ...fieldPath(labelSelectorPath));
  if (selector === undefined || typeof selector === 'string') return errors;
  return [...errors, invalid(labelSelectorPath, '', accessProblem(labelSelectorPath, selector, 'string'))];
}

function replicasProblem(object: KubeObject, path: string): readonly FieldError[] {
  const value = valueAt(object, ...fieldPath(path));
  if (value === undefined) return [];
  if (typeof value !== 'bigint' && !Number.isInteger(value)) {
    return [invalid(path, 0, accessProblem(path, value, 'int64'))];
  }
  if (Number(value) < 0) return [invalid(path, value, 'should be a non-negative integer')];
  return Number(value) > MAX_REPLICAS ? [invalid(path, value, `should be less than or equal to ${MAX_REPLICAS}`)] : [];
}

function accessProblem(path: string, value: unknown, wanted: string): string {
  return `.${fieldPath(path).join('.')} accessor error: ${printGoValue(value as JsonValue)} is of the type ${goType(value)}, expected ${wanted}`;
}

function goType(value: unknown): string {
  if (value === null) return '<nil>';
  if (Array.isArray(value)) return '[]interface {}';
  switch (typeof value) {
    case 'object':
      return 'map[string]interface {}';
    case 'number':
      return 'float64';
    case 'boolean':
      return 'bool';
    default:
      return 'string';
  }
}
