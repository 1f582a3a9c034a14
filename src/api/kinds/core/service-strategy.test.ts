import type { KubeObject } from '../../object';
import { defaultService, serviceStrategy, singleStackServiceStrategy } from './service-strategy';

function service(spec: object | undefined, status?: object): KubeObject {
  return {
    metadata: { name: 'a' },
    ...(spec === undefined ? {} : { spec }),
    ...(status === undefined ? {} : { status }),
  };
}

const inner = { type: 'ClusterIP', sessionAffinity: 'None', clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1'] };
const both = {
  ...inner,
  clusterIPs: ['10.0.0.1', 'fd00::1'],
  ipFamilies: ['IPv4', 'IPv6'],
  ipFamilyPolicy: 'PreferDualStack',
};
const outer = { ...inner, type: 'NodePort', externalTrafficPolicy: 'Cluster' };
const balancer = { ...outer, type: 'LoadBalancer' };
const ingress = { loadBalancer: { ingress: [{ ip: '1.2.3.4' }] } };

describe('the defaults of a service', () => {
  test.each<[string, object | undefined, object]>([
    ['without a spec', undefined, { type: 'ClusterIP', sessionAffinity: 'None' }],
    [
      'lead to the port of the same number',
      { ports: [{ port: 80 }, { port: 81, targetPort: 0 }, { port: 82, targetPort: 'http' }] },
      {
        type: 'ClusterIP',
        sessionAffinity: 'None',
        ports: [
          { port: 80, targetPort: 80 },
          { port: 81, targetPort: 81 },
          { port: 82, targetPort: 'http' },
        ],
      },
    ],
    [
      'limit affinity to three hours',
      { sessionAffinity: 'ClientIP' },
      {
        type: 'ClusterIP',
        sessionAffinity: 'ClientIP',
        sessionAffinityConfig: { clientIP: { timeoutSeconds: 10_800 } },
      },
    ],
    [
      'forget what affinity there was',
      { sessionAffinity: 'None', sessionAffinityConfig: { clientIP: { timeoutSeconds: 5 } } },
      { type: 'ClusterIP', sessionAffinity: 'None' },
    ],
    [
      'let every node take traffic from outside',
      { type: 'NodePort' },
      { type: 'NodePort', sessionAffinity: 'None', externalTrafficPolicy: 'Cluster' },
    ],
  ])('%s', (_what, spec, expected) => {
    expect(defaultService(service(spec))['spec']).toEqual(expected);
  });
});

describe('a service', () => {
  it('is created with an empty status and the list of its address', () => {
    const sent = service({ clusterIP: 'None' }, ingress);
    expect(serviceStrategy.prepareForCreate?.(sent)).toEqual(
      service({ clusterIP: 'None', clusterIPs: ['None'] }, { loadBalancer: {} }),
    );
  });

  test.each<[string, object, object, object]>([
    [
      'keeps the list with the field',
      { ...inner, clusterIP: '10.0.0.2' },
      inner,
      { ...inner, clusterIP: '10.0.0.2', clusterIPs: ['10.0.0.2'] },
    ],
    [
      'gets the list that it was stored without',
      { type: 'ClusterIP', clusterIP: '10.0.0.1' },
      { type: 'ClusterIP', clusterIP: '10.0.0.1' },
      { type: 'ClusterIP', clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1'] },
    ],
    ['gets the list back that an older client does not know', { ...inner, clusterIPs: [] }, inner, inner],
    [
      'that wants one family only gives up the second',
      { ...both, ipFamilyPolicy: 'SingleStack' },
      both,
      { ...both, clusterIPs: ['10.0.0.1'], ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' },
    ],
    [
      'that becomes a name gives up its address',
      { ...inner, type: 'ExternalName' },
      inner,
      { type: 'ExternalName', sessionAffinity: 'None' },
    ],
    [
      'that goes inside gives up its node ports',
      { ...inner, ports: [{ port: 80, nodePort: 30_000 }], externalTrafficPolicy: 'Cluster' },
      { ...outer, ports: [{ port: 80, nodePort: 30_000 }] },
      { ...inner, ports: [{ port: 80 }] },
    ],
    [
      'that goes inside with another node port has to hear of it',
      { ...inner, ports: [{ port: 80, nodePort: 30_001 }] },
      { ...outer, ports: [{ port: 80, nodePort: 30_000 }] },
      { ...inner, ports: [{ port: 80, nodePort: 30_001 }] },
    ],
    [
      'without a health check gives up its port',
      { ...balancer, healthCheckNodePort: 30_002 },
      { ...balancer, externalTrafficPolicy: 'Local', healthCheckNodePort: 30_002 },
      balancer,
    ],
  ])('%s', (_what, spec, old, expected) => {
    expect(serviceStrategy.prepareForUpdate?.(service(spec), service(old))['spec']).toEqual(expected);
  });

  it('keeps its status until it is no load balancer any more', () => {
    const old = service(balancer, ingress);
    expect(serviceStrategy.prepareForUpdate?.(service(balancer, {}), old)['status']).toEqual(ingress);
    expect(serviceStrategy.prepareForUpdate?.(service(outer), old)['status']).toEqual({ loadBalancer: {} });
  });
});

describe('a service on a server of one family', () => {
  it('is created without the second address and a word of families', () => {
    const created = singleStackServiceStrategy.prepareForCreate?.(service(both));
    expect(created?.['spec']).toEqual(inner);
  });

  it('keeps the families that it has', () => {
    const prepare = singleStackServiceStrategy.prepareForUpdate;
    expect(prepare?.(service(both), service(both))['spec']).toEqual(both);
    expect(prepare?.(service(both), service(inner))['spec']).toEqual(inner);
  });
});
