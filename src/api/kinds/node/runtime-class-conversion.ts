import type { KubeObject } from '../../object';
import { isPlainMap, type PlainMap } from '../field-values';

/**
 * RuntimeClass v1alpha1 has a spec; the later versions, which have one shape, have its fields in the object itself, and
 * call the runtime's handler `handler`.
 */

function given(fields: PlainMap): PlainMap {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

export function runtimeClassToV1({ spec, ...object }: KubeObject): KubeObject {
  const { runtimeHandler, overhead, scheduling } = isPlainMap(spec) ? spec : {};
  return { ...object, handler: runtimeHandler ?? '', ...given({ overhead, scheduling }) };
}

export function runtimeClassFromV1({ handler, overhead, scheduling, ...object }: KubeObject): KubeObject {
  return { ...object, spec: { runtimeHandler: handler ?? '', ...given({ overhead, scheduling }) } };
}
