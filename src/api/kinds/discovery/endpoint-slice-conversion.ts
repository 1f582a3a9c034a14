import type { KubeObject } from '../../object';
import { isPlainMap, listAt, mapAt, type PlainMap } from '../field-values';

/**
 * EndpointSlice v1beta1, and v1alpha1 before it, keeps where an endpoint is in a `topology` map; v1 has the field `zone` for one of its keys and
 * `deprecatedTopology` for the others. The host name is left out of that when it is the `nodeName`, which both have, and
 * is only then made up again: the two may differ, and one may be there without the other.
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
  const { topology, ...rest } = endpoint;
  const { [ZONE_KEY]: zone, ...places } = isPlainMap(topology) ? topology : {};
  const { [HOST_KEY]: host, ...others } = places;
  const isNode = host !== undefined && host === rest['nodeName'];
  return definedFields({ ...rest, deprecatedTopology: nonEmpty(isNode ? others : places), zone });
}

function endpointFromV1(endpoint: PlainMap): PlainMap {
  const { deprecatedTopology, zone, ...rest } = endpoint;
  const topology = definedFields({
    [HOST_KEY]: rest['nodeName'],
    ...(isPlainMap(deprecatedTopology) ? deprecatedTopology : {}),
    ...(zone === undefined ? {} : { [ZONE_KEY]: zone }),
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
