import type { KubeObject } from '../../object';
import { isPlainMap, listAt, mapAt, type PlainMap } from '../field-values';

/**
 * EndpointSlice v1beta1 keeps where an endpoint is in a `topology` map; v1 has the fields `nodeName` and `zone` for two
 * of its keys, and `deprecatedTopology` for the others.
 */
const HOST_KEY = 'kubernetes.io/hostname';
const ZONE_KEY = 'topology.kubernetes.io/zone';

function definedFields(fields: PlainMap): PlainMap {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

function nonEmpty(map: PlainMap): PlainMap | undefined {
  return Object.keys(map).length === 0 ? undefined : map;
}

function endpointToV1(endpoint: PlainMap): PlainMap {
  const { topology, nodeName, ...rest } = endpoint;
  const { [HOST_KEY]: host, [ZONE_KEY]: zone, ...others } = isPlainMap(topology) ? topology : {};
  return definedFields({
    ...rest,
    deprecatedTopology: nonEmpty(others),
    nodeName: nodeName ?? host,
    zone,
  });
}

function endpointFromV1(endpoint: PlainMap): PlainMap {
  const { deprecatedTopology, zone, ...rest } = endpoint;
  const topology = definedFields({
    ...(isPlainMap(deprecatedTopology) ? deprecatedTopology : {}),
    [HOST_KEY]: rest['nodeName'],
    [ZONE_KEY]: zone,
  });
  return definedFields({ ...rest, topology: nonEmpty(topology) });
}

function convertEndpoints(object: KubeObject, convert: (endpoint: PlainMap) => PlainMap): KubeObject {
  if (!Array.isArray(object['endpoints'])) return object;
  const endpoints = listAt(object, 'endpoints').map((endpoint) => convert(mapAt({ endpoint }, 'endpoint')));
  return { ...object, endpoints };
}

export function endpointSliceToV1(object: KubeObject): KubeObject {
  return convertEndpoints(object, endpointToV1);
}

export function endpointSliceFromV1(object: KubeObject): KubeObject {
  return convertEndpoints(object, endpointFromV1);
}
