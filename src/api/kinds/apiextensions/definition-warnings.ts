import type { KubeObject } from '../../object';
import { isPlainMap, listAt, stringAt, valueAt } from '../field-values';

const RULES = 'x-kubernetes-validations';

/** What a definition asks for and does not get yet. */
export function definitionWarnings(definition: KubeObject): readonly string[] {
  const isConverted = stringAt(definition, 'spec', 'conversion', 'strategy') === 'Webhook';
  return [
    ...(isConverted ? ['spec.conversion: conversion webhooks are not called by this server yet: None is used'] : []),
    ...listAt(definition, 'spec', 'versions').flatMap((version, index) =>
      hasRules(valueAt(version, 'schema'))
        ? [`spec.versions[${index}].schema: ${RULES} are not evaluated by this server yet`]
        : [],
    ),
  ];
}

/** Schemas may be nested deeply, so they are walked without recursion. */
function hasRules(schema: unknown): boolean {
  const pending: unknown[] = [schema];
  while (pending.length > 0) {
    const value = pending.pop();
    if (isPlainMap(value)) {
      if (listAt(value, RULES).length > 0) return true;
      for (const member of Object.values(value)) pending.push(member);
    } else if (Array.isArray(value)) {
      for (const item of value) pending.push(item);
    }
  }
  return false;
}
