import type { KubeObject } from '../../object';
import { withAnnotation, withoutAnnotations } from '../annotations';
import { isPlainMap, mapAt, valueAt, type PlainMap } from '../field-values';
import { withFields } from '../strategies';

/**
 * Versions before v1 take shares of zero for none that were named, unless this says that zero is meant. In v1 zero is zero and the
 * annotation is not there.
 */
const ZERO_IS_MEANT = 'flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares';
const DEFAULT_SHARES = 30;

function changeLimited(object: KubeObject, change: (limited: PlainMap) => PlainMap): KubeObject {
  const limited = valueAt(object, 'spec', 'limited');
  return isPlainMap(limited) ? withFields(object, 'spec', { limited: change(limited) }) : object;
}

/** The default of shares: what the schema cannot say, as it depends on the annotation. */
export function priorityLevelDefaults(object: KubeObject, version: string): KubeObject {
  if (version === 'v1' || object.metadata.annotations?.[ZERO_IS_MEANT] !== undefined) return object;
  const field = version === 'v1beta3' ? 'nominalConcurrencyShares' : 'assuredConcurrencyShares';
  return changeLimited(object, (limited) => (limited[field] === 0 ? { ...limited, [field]: DEFAULT_SHARES } : limited));
}

function toOldName({ nominalConcurrencyShares: shares, ...limited }: PlainMap): PlainMap {
  return { ...(shares === undefined ? {} : { assuredConcurrencyShares: shares }), ...limited };
}

function toNewName({ assuredConcurrencyShares: shares, ...limited }: PlainMap): PlainMap {
  return { ...(shares === undefined ? {} : { nominalConcurrencyShares: shares }), ...limited };
}

/** Later versions always tell what is lent; a level that says nothing lends nothing. */
function withLent(limited: PlainMap): PlainMap {
  return limited['lendablePercent'] === undefined ? { ...limited, lendablePercent: 0 } : limited;
}

function withoutLent({ lendablePercent, ...limited }: PlainMap): PlainMap {
  return lendablePercent === undefined || lendablePercent === 0 ? limited : { ...limited, lendablePercent };
}

export function priorityLevelFromV1beta3(object: KubeObject): KubeObject {
  return changeLimited(object, (limited) => toOldName(withoutLent(limited)));
}

export function priorityLevelToV1beta3(object: KubeObject): KubeObject {
  return changeLimited(object, (limited) => toNewName(withLent(limited)));
}

export function priorityLevelFromV1(object: KubeObject): KubeObject {
  const hasZero = mapAt(object, 'spec', 'limited')['nominalConcurrencyShares'] === 0;
  const converted = priorityLevelFromV1beta3(object);
  return hasZero ? withAnnotation(converted, ZERO_IS_MEANT, '') : withoutAnnotations(converted, [ZERO_IS_MEANT]);
}

export function priorityLevelToV1(object: KubeObject): KubeObject {
  return withoutAnnotations(priorityLevelToV1beta3(object), [ZERO_IS_MEANT]);
}
