import type { KubeObject } from '../../object';
import { keysOf } from '../../parts';
import { deepEqual } from '../deep-equal';
import { isPlainMap, listAt, stringAt, valueAt, type PlainMap } from '../field-values';
import { withFields } from '../strategies';

/**
 * An empty selector selects all pods in v1 and none in v1beta1. In the other version each is a requirement on a label
 * that no pod has; that label never stands beside other requirements.
 */
const EMPTY_SELECTOR_LABEL = 'pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match';
const EMPTY: PlainMap = {};

function onlyRequirement(operator: 'DoesNotExist' | 'Exists'): PlainMap {
  return { matchExpressions: [{ key: EMPTY_SELECTOR_LABEL, operator }] };
}

function isEmptySelector(selector: unknown): boolean {
  return (
    isPlainMap(selector) &&
    listAt(selector, 'matchExpressions').length === 0 &&
    keysOf((selector['matchLabels'] as object | undefined) ?? {}).length === 0
  );
}

function withoutLabel(selector: PlainMap): PlainMap {
  const { matchLabels, matchExpressions: _expressions, ...rest } = selector;
  const labels = Object.entries((matchLabels ?? {}) as PlainMap).filter(([label]) => label !== EMPTY_SELECTOR_LABEL);
  const expressions = listAt(selector, 'matchExpressions').filter(
    (expression) => stringAt(expression, 'key') !== EMPTY_SELECTOR_LABEL,
  );
  return {
    ...rest,
    ...(labels.length === 0 ? {} : { matchLabels: Object.fromEntries(labels) }),
    ...(expressions.length === 0 ? {} : { matchExpressions: expressions }),
  };
}

function mentionsLabel(selector: PlainMap): boolean {
  return (
    valueAt(selector, 'matchLabels', EMPTY_SELECTOR_LABEL) !== undefined ||
    listAt(selector, 'matchExpressions').some((expression) => stringAt(expression, 'key') === EMPTY_SELECTOR_LABEL)
  );
}

function convertSelector(object: KubeObject, ofEmpty: PlainMap, becomesEmpty: PlainMap): KubeObject {
  const selector = valueAt(object, 'spec', 'selector');
  if (!isPlainMap(selector)) return object;
  if (isEmptySelector(selector)) return withFields(object, 'spec', { selector: ofEmpty });
  if (deepEqual(selector, becomesEmpty)) return withFields(object, 'spec', { selector: EMPTY });
  return mentionsLabel(selector) ? withFields(object, 'spec', { selector: withoutLabel(selector) }) : object;
}

export function budgetFromV1(object: KubeObject): KubeObject {
  return convertSelector(object, onlyRequirement('DoesNotExist'), onlyRequirement('Exists'));
}

export function budgetToV1(object: KubeObject): KubeObject {
  return convertSelector(object, onlyRequirement('Exists'), onlyRequirement('DoesNotExist'));
}
