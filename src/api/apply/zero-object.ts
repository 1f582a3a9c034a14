import type { JsonValue, KubeObject } from '../object';
import type { Field, StructType } from '../schema/model';

const zeros = new WeakMap<StructType, KubeObject>();

/**
 * The object of a kind in which nothing is set, as kube-apiserver writes it: fields that are always emitted have their
 * zero value. A create is a change from this object, which is why it owns `spec.replicas` but not `spec` itself.
 */
export function zeroObject(type: StructType): KubeObject {
  let zero = zeros.get(type);
  if (zero === undefined) {
    const { apiVersion: _, kind: __, ...fields } = zeroStruct(type);
    zero = { metadata: {}, ...fields };
    zeros.set(type, zero);
  }
  return zero;
}

function zeroStruct(type: StructType): Record<string, JsonValue> {
  const result: Record<string, JsonValue> = {};
  for (const field of type.fields.values()) if (field.always) result[field.name] = zeroValue(field);
  return result;
}

/** What Go's encoder writes of a field that nobody has set. */
export function zeroValue({ type, pointer }: Field): JsonValue {
  if (pointer) return null;
  switch (type.kind) {
    case 'struct':
      return zeroStruct(type);
    case 'scalar':
      return { string: '', bytes: null, bool: false, int32: 0, int64: 0, double: 0 }[type.scalar];
    case 'special':
      return type.special === 'Quantity' ? '0' : type.special === 'IntOrString' ? 0 : null;
    case 'list':
    case 'map':
    case 'any':
      return null;
  }
}
