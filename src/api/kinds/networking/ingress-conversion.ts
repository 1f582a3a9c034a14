import type { KubeObject } from '../../object';
import { isPlainMap, listAt, mapAt, type PlainMap } from '../field-values';

/**
 * Ingress v1beta1 (of both groups) and v1 say the same in different shapes: `backend.serviceName` and `servicePort` are
 * `backend.service.name` and `port.number` or `port.name`, the spec's `backend` is its `defaultBackend`, and a v1beta1
 * path without a type has the type ImplementationSpecific in v1.
 */
type Convert = (value: PlainMap) => PlainMap;

function mapField(value: PlainMap, field: string, convert: Convert): PlainMap {
  const found = value[field];
  return isPlainMap(found) ? { ...value, [field]: convert(found) } : value;
}

function mapItems(value: PlainMap, field: string, convert: Convert): PlainMap {
  if (!Array.isArray(value[field])) return value;
  return { ...value, [field]: listAt(value, field).map((item) => (isPlainMap(item) ? convert(item) : item)) };
}

/** Renames a field in place, so that the order of fields stays. */
function rename(value: PlainMap, from: string, to: string): PlainMap {
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name === from ? to : name, field]));
}

function convertSpec(object: KubeObject, convertBackend: Convert, from: string, to: string): KubeObject {
  const spec = mapAt(object, 'spec');
  const convertRule: Convert = (rule) =>
    mapField(rule, 'http', (http) => mapItems(http, 'paths', (path) => mapField(path, 'backend', convertBackend)));
  const converted = mapItems(mapField(spec, from, convertBackend), 'rules', convertRule);
  return { ...object, spec: rename(converted, from, to) };
}

function portToV1(port: unknown): PlainMap | undefined {
  if (typeof port === 'string') return port === '' ? undefined : { name: port };
  return typeof port === 'number' && port !== 0 ? { number: port } : undefined;
}

const backendToV1: Convert = ({ serviceName, servicePort, ...rest }) => {
  const port = portToV1(servicePort);
  const name = typeof serviceName === 'string' ? serviceName : '';
  // A port that is an empty text is one that was meant, unlike the number zero.
  if (name === '' && port === undefined && servicePort !== '') return rest;
  return { service: { name, port: port ?? {} }, ...rest };
};

const backendFromV1: Convert = ({ service, ...rest }) => {
  // A port that is neither a number nor a name is the number zero, which v1beta1 always shows.
  if (!isPlainMap(service)) return { servicePort: 0, ...rest };
  const port = mapAt(service, 'port');
  const name = service['name'] ?? '';
  return {
    ...(name === '' ? {} : { serviceName: name }),
    servicePort: port['name'] ?? port['number'] ?? 0,
    ...rest,
  };
};

export function ingressToV1(object: KubeObject): KubeObject {
  return convertSpec(object, backendToV1, 'backend', 'defaultBackend');
}

export function ingressFromV1(object: KubeObject): KubeObject {
  return convertSpec(object, backendFromV1, 'defaultBackend', 'backend');
}
