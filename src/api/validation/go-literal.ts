import { hadEmptyMap } from '../codec/empty-maps';
import { printValue, type FieldError } from '../errors/field-error';
import { MAX_SHOWN_LENGTH, shownPart } from '../errors/shown-value';
import { isPlainMap, listAt, stringAt, valueAt } from '../kinds/field-values';
import type { ServicePort } from '../schema/generated/core-v1';

/**
 * Messages of validation show structured values as Go source text. Clients print these messages, and tests of theirs
 * compare them, so the server writes the same texts.
 */

/** The problem of a value whose printed form is given as it is to stand in the message. */
export function invalidLiteral(field: string, literal: string, detail: string): FieldError {
  const suffix = detail === '' ? '' : `: ${detail}`;
  return { reason: 'FieldValueInvalid', field, message: `Invalid value: ${literal}${suffix}` };
}

export function notSupportedLiteral(field: string, literal: string, supported: readonly string[]): FieldError {
  const values = supported.map((value) => JSON.stringify(value)).join(', ');
  return {
    reason: 'FieldValueNotSupported',
    field,
    message: `Unsupported value: ${literal}: supported values: ${values}`,
  };
}

/** What is long to tell is made when there is something to tell. */
export function once(make: () => string): () => string {
  let made: string | undefined;
  return () => (made ??= make());
}

/** `[]string{"a", "b"}`; `[]string(nil)` for no list. */
export function stringListLiteral(type: string, list: readonly unknown[] | undefined): string {
  if (list === undefined || list.length === 0) return `${type}(nil)`;
  return `${type}{${shownPart(list).map(printValue).join(', ')}}`;
}

/** `map[string]string{"a":"b"}`, keys in order. */
export function stringMapLiteral(map: unknown, wasEmpty = false): string {
  if (!isPlainMap(map)) return wasEmpty ? 'map[string]string{}' : 'map[string]string(nil)';
  const entries = Object.entries(shownPart(map)).sort(([left], [right]) => (left < right ? -1 : left > right ? 1 : 0));
  return `map[string]string{${entries.map(([key, value]) => `${printValue(key)}:${printValue(value)}`).join(', ')}}`;
}

/** The labels of that metadata, as they were sent. */
export function labelsLiteral(metadata: unknown): string {
  return stringMapLiteral(valueAt(metadata, 'labels'), hadEmptyMap(metadata, 'labels'));
}

function requirementLiteral(requirement: unknown): string {
  const key = printValue(stringAt(requirement, 'key'));
  const operator = printValue(stringAt(requirement, 'operator'));
  const values = stringListLiteral('[]string', listAt(requirement, 'values'));
  return `v1.LabelSelectorRequirement{Key:${key}, Operator:${operator}, Values:${values}}`;
}

/** A label selector; an absent one is `"null"`. */
export function labelSelectorLiteral(selector: unknown): string {
  if (!isPlainMap(selector)) return '"null"';
  const expressions = listAt(selector, 'matchExpressions');
  const list = expressions.length === 0 ? '(nil)' : `{${shownPart(expressions).map(requirementLiteral).join(', ')}}`;
  const labels = stringMapLiteral(valueAt(selector, 'matchLabels'), hadEmptyMap(selector, 'matchLabels'));
  return `v1.LabelSelector{MatchLabels:${labels}, MatchExpressions:[]v1.LabelSelectorRequirement${list}}`;
}

/** A number or a text that stands for one, `intstr.IntOrString{Type:1, IntVal:0, StrVal:"5%"}`. */
export function intOrStringLiteral(value: unknown): string {
  return typeof value === 'string'
    ? `intstr.IntOrString{Type:1, IntVal:0, StrVal:${printValue(value)}}`
    : `intstr.IntOrString{Type:0, IntVal:${typeof value === 'number' ? value : 0}, StrVal:""}`;
}

/** A port of a service; of a pointer Go would print the address. */
export function servicePortLiteral(port: ServicePort): string {
  const { name = '', protocol = '', appProtocol, port: number = 0, targetPort, nodePort = 0 } = port;
  return (
    `core.ServicePort{Name:${printValue(name)}, Protocol:${printValue(protocol)}, ` +
    `AppProtocol:(*string)(${appProtocol === undefined ? 'nil' : printValue(appProtocol)}), Port:${number}, ` +
    `TargetPort:${intOrStringLiteral(targetPort)}, NodePort:${nodePort}}`
  );
}

/** `[]byte{0x6e, 0xa}`; `[]byte(nil)` for none. */
export function byteListLiteral(type: string, bytes: Uint8Array | undefined): string {
  if (bytes === undefined) return `${type}(nil)`;
  return `${type}{${Array.from(bytes.subarray(0, MAX_SHOWN_LENGTH / 4), (byte) => `0x${byte.toString(16)}`).join(', ')}}`;
}

const HANDLERS = [
  ['exec', 'Exec:(*core.ExecAction)(nil)'],
  ['httpGet', 'HTTPGet:(*core.HTTPGetAction)(nil)'],
  ['tcpSocket', 'TCPSocket:(*core.TCPSocketAction)(nil)'],
] as const;
const PROBE_NUMBERS = [
  'initialDelaySeconds',
  'timeoutSeconds',
  'periodSeconds',
  'successThreshold',
  'failureThreshold',
] as const;

/** A probe without a handler. Of one that has a handler Go prints where that lies in memory, which tells nobody anything. */
export function probeLiteral(probe: unknown): string {
  if (HANDLERS.some(([field]) => valueAt(probe, field) !== undefined)) return printValue(probe);
  const numbers = PROBE_NUMBERS.map(
    (field) => `${field.charAt(0).toUpperCase()}${field.slice(1)}:${printValue(valueAt(probe, field) ?? 0)}`,
  );
  const handler = `core.Handler{${HANDLERS.map(([, absent]) => absent).join(', ')}}`;
  return `core.Probe{Handler:${handler}, ${numbers.join(', ')}}`;
}

/** The hooks of a container's life, as {@link probeLiteral}. */
export function lifecycleLiteral(lifecycle: unknown): string {
  if (valueAt(lifecycle, 'postStart') !== undefined || valueAt(lifecycle, 'preStop') !== undefined) {
    return printValue(lifecycle);
  }
  return 'core.Lifecycle{PostStart:(*core.Handler)(nil), PreStop:(*core.Handler)(nil)}';
}
