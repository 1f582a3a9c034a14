import type { FieldError } from '../errors/field-error';
import type { KubeObject } from '../object';
import type { ServiceSpec } from '../schema/generated/core-v1';
import { validateService } from './service';
import { validateServiceStatusUpdate, validateServiceUpdate } from './service-update';

/** `field: message` of every problem, in order. */
function texts(errors: readonly FieldError[]): readonly string[] {
  return errors.map(({ field, message }) => `${field}: ${message}`);
}

const PORT = { port: 80, protocol: 'TCP', targetPort: 80 };

function service(spec: ServiceSpec, annotations: Readonly<Record<string, string>> = {}): KubeObject {
  const defaults = { ports: [PORT], type: 'ClusterIP', sessionAffinity: 'None' };
  return { metadata: { name: 'a', annotations }, spec: { ...defaults, ...spec } };
}

const NO_IP = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';
const RANGES = 'service.beta.kubernetes.io/load-balancer-source-ranges';
const NO_RANGES = 'must be a list of IP ranges. For example, 10.240.0.0/24,10.250.0.0/24 ';

describe('services', () => {
  test.each<[string, ServiceSpec]>([
    ['one port', {}],
    ['no address and no ports', { clusterIP: 'None', clusterIPs: ['None'], ports: [] }],
    ['a name', { type: 'ExternalName', externalName: 'a.example.com.', ports: [] }],
    [
      'one number under two protocols',
      {
        ports: [
          { ...PORT, name: 'a' },
          { ...PORT, name: 'b', protocol: 'UDP' },
        ],
      },
    ],
    ['a health check', { type: 'LoadBalancer', externalTrafficPolicy: 'Local', healthCheckNodePort: 30_001 }],
    ['affinity', { sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 86_400 } } }],
    ['source ranges', { type: 'LoadBalancer', loadBalancerSourceRanges: ['10.0.0.0/8', ' fd00::/8 '] }],
  ])('with %s are sound', (_what, spec) => {
    expect(texts(validateService(service(spec)))).toEqual([]);
  });

  test.each<[string, ServiceSpec, readonly string[]]>([
    ['no ports', { ports: [] }, ['spec.ports: Required value']],
    [
      'a port out of range',
      { ports: [{ ...PORT, port: 65_536, targetPort: 65_536 }] },
      [
        'spec.ports[0].port: Invalid value: 65536: must be between 1 and 65535, inclusive',
        'spec.ports[0].targetPort: Invalid value: 65536: must be between 1 and 65535, inclusive',
      ],
    ],
    [
      'another protocol',
      { ports: [{ ...PORT, protocol: 'http' }] },
      ['spec.ports[0].protocol: Unsupported value: "http": supported values: "SCTP", "TCP", "UDP"'],
    ],
    [
      'a second port without a name',
      {
        ports: [
          { ...PORT, name: 'a' },
          { ...PORT, port: 2 },
        ],
      },
      ['spec.ports[1].name: Required value'],
    ],
    [
      'the same port twice',
      {
        ports: [
          { ...PORT, name: 'a' },
          { ...PORT, name: 'b' },
        ],
      },
      [
        'spec.ports[1]: Duplicate value: core.ServicePort{Name:"", Protocol:"TCP", AppProtocol:(*string)(nil), Port:80, ' +
          'TargetPort:intstr.IntOrString{Type:0, IntVal:0, StrVal:""}, NodePort:0}',
      ],
    ],
    [
      'the same node port twice',
      {
        type: 'NodePort',
        ports: [
          { ...PORT, name: 'a', nodePort: 31_999 },
          { ...PORT, name: 'b', port: 2, nodePort: 31_999 },
        ],
      },
      ['spec.ports[1].nodePort: Duplicate value: 31999'],
    ],
    [
      'a node port inside',
      { ports: [{ ...PORT, nodePort: 30_500 }] },
      ["spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'"],
    ],
    [
      'unknown affinity',
      { sessionAffinity: 'X' },
      ['spec.sessionAffinity: Unsupported value: "X": supported values: "ClientIP", "None"'],
    ],
    [
      'affinity for too long',
      { sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 86_401 } } },
      [
        'spec.sessionAffinityConfig.clientIP.timeoutSeconds: Invalid value: 86401: must be greater than 0 and less than 86400',
      ],
    ],
    ['no address', { clusterIP: 'x', clusterIPs: ['x'] }, [`spec.clusterIPs[0]: Invalid value: "x": ${NO_IP}`]],
    [
      'two first addresses',
      { clusterIP: 'None', clusterIPs: ['10.0.0.5'] },
      ['spec.clusterIPs: Invalid value: []string{"10.0.0.5"}: element [0] must match clusterIP'],
    ],
    [
      'two addresses of one family',
      { clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1', '10.0.0.2'] },
      [
        'spec.clusterIPs: Invalid value: []string{"10.0.0.1", "10.0.0.2"}: may specify no more than one IP for each IP family',
      ],
    ],
    [
      'an address of another family',
      { clusterIP: 'fd00::1', clusterIPs: ['fd00::1'], ipFamilies: ['IPv4'] },
      ['spec.clusterIPs[0]: Invalid value: "fd00::1": expected an IPv4 value as indicated by `ipFamilies[0]`'],
    ],
    [
      'node ports without an address',
      { type: 'NodePort', clusterIP: 'None', clusterIPs: ['None'] },
      ['spec.clusterIPs[0]: Invalid value: "None": may not be set to \'None\' for NodePort services'],
    ],
    [
      'a name and an address',
      { type: 'ExternalName', externalName: 'a.b', clusterIP: '10.0.0.7', clusterIPs: ['10.0.0.7'] },
      ['spec.clusterIPs: Forbidden: may not be set for ExternalName services'],
    ],
    [
      'traffic rules inside',
      { externalTrafficPolicy: 'Local' },
      [
        'spec.externalTrafficPolicy: Invalid value: "Local": ExternalTrafficPolicy can only be set on NodePort and LoadBalancer service',
      ],
    ],
    [
      'a health check inside',
      { healthCheckNodePort: 30_001 },
      [
        'spec.healthCheckNodePort: Invalid value: 30001: HealthCheckNodePort can only be set on LoadBalancer service with ExternalTrafficPolicy=Local',
      ],
    ],
    [
      'special external addresses',
      { externalIPs: ['x', '169.254.1.1', '127.0.0.1', '224.0.0.5', '::'] },
      [
        `spec.externalIPs[0]: Invalid value: "x": ${NO_IP}`,
        'spec.externalIPs[1]: Invalid value: "169.254.1.1": may not be in the link-local range (169.254.0.0/16)',
        'spec.externalIPs[2]: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8)',
        'spec.externalIPs[3]: Invalid value: "224.0.0.5": may not be in the link-local multicast range (224.0.0.0/24)',
        'spec.externalIPs[4]: Invalid value: "::": may not be unspecified (::)',
      ],
    ],
    [
      'source ranges inside',
      { loadBalancerSourceRanges: ['10.0.0.0/8', 'x'] },
      [
        "spec.LoadBalancerSourceRanges: Forbidden: may only be used when `type` is 'LoadBalancer'",
        `spec.LoadBalancerSourceRanges: Invalid value: "[10.0.0.0/8 x]": ${NO_RANGES}`,
      ],
    ],
    [
      'a class of balancers that is no name',
      { type: 'LoadBalancer', loadBalancerClass: 'a/b/c' },
      [
        'spec.loadBalancerClass: Invalid value: "a/b/c": a qualified name must consist of alphanumeric characters, ' +
          "'-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or " +
          "'123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS " +
          "subdomain prefix and '/' (e.g. 'example.com/MyName')",
      ],
    ],
    [
      'a class of balancers inside',
      { loadBalancerClass: 'a/b' },
      ["spec.loadBalancerClass: Forbidden: may only be used when `type` is 'LoadBalancer'"],
    ],
  ])('with %s are refused', (_what, spec, problems) => {
    expect(texts(validateService(service(spec)))).toEqual(problems);
  });

  test('may name their source ranges in an annotation', () => {
    const balanced = service({ type: 'LoadBalancer' }, { [RANGES]: 'x' });
    expect(texts(validateService(balanced))).toEqual([
      `metadata.annotations[${RANGES}]: Invalid value: "x": ${NO_RANGES}`,
    ]);
  });

  test.each<[string, ServiceSpec, readonly string[]]>([
    ['keep it', { clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1'] }, []],
    ['become a name', { type: 'ExternalName', externalName: 'a.b' }, []],
    [
      'take another',
      { clusterIP: '10.0.0.2', clusterIPs: ['10.0.0.2'] },
      ['spec.clusterIPs[0]: Invalid value: []string{"10.0.0.2"}: may not change once set'],
    ],
    ['give it up', {}, ['spec.clusterIPs[0]: Invalid value: []string(nil): primary clusterIP can not be unset']],
  ])('that have an address and %s', (_what, spec, problems) => {
    const old = service({ clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1'] });
    expect(texts(validateServiceUpdate(service(spec), old))).toEqual(problems);
  });

  const dual = {
    clusterIP: '10.0.0.1',
    clusterIPs: ['10.0.0.1', 'fd00::1'],
    ipFamilies: ['IPv4', 'IPv6'],
    ipFamilyPolicy: 'PreferDualStack',
  };
  const first = { ...dual, clusterIPs: ['10.0.0.1'], ipFamilies: ['IPv4'] };
  const headless = { clusterIP: 'None', clusterIPs: ['None'] };
  const releasing = (value: string, what: string) =>
    `spec.ipFamilyPolicy: Invalid value: "${value}": must be set to 'SingleStack' when releasing the secondary ${what}`;

  test.each<[string, ServiceSpec, ServiceSpec, readonly string[]]>([
    ['gain the second', dual, first, []],
    ['leave them out', { ...dual, ipFamilies: [] }, dual, []],
    ['give the second one up', { ...first, ipFamilyPolicy: 'SingleStack' }, dual, []],
    [
      'give it up in silence',
      first,
      dual,
      [releasing('PreferDualStack', 'clusterIP'), releasing('PreferDualStack', 'ipFamily')],
    ],
    [
      'know nothing of them',
      { clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1'] },
      dual,
      [releasing('null', 'clusterIP')],
    ],
    [
      'change their order',
      { ...dual, clusterIP: 'fd00::1', clusterIPs: ['fd00::1', '10.0.0.1'], ipFamilies: ['IPv6', 'IPv4'] },
      dual,
      [
        ...[0, 1].map(
          (index) =>
            `spec.clusterIPs[${index}]: Invalid value: []string{"fd00::1", "10.0.0.1"}: may not change once set`,
        ),
        ...[0, 1].map(
          () => 'spec.ipFamilies[0]: Invalid value: []core.IPFamily{"IPv6", "IPv4"}: may not change once set',
        ),
      ],
    ],
    [
      'give up all',
      { ipFamilyPolicy: 'PreferDualStack' },
      dual,
      [
        'spec.clusterIPs[0]: Invalid value: []string(nil): primary clusterIP can not be unset',
        'spec.ipFamilies[0]: Invalid value: []core.IPFamily(nil): primary ipFamily can not be unset',
      ],
    ],
    ['have no addresses', { ...headless, ipFamilies: ['IPv6'] }, { ...headless, ipFamilies: ['IPv4', 'IPv6'] }, []],
  ])('that have families and %s', (_what, spec, oldSpec, problems) => {
    expect(texts(validateServiceUpdate(service(spec), service(oldSpec)))).toEqual(problems);
  });

  test('keep the class of their load balancer', () => {
    const balanced = (loadBalancerClass?: string) =>
      service({ type: 'LoadBalancer', ...(loadBalancerClass === undefined ? {} : { loadBalancerClass }) });
    const problem = (value: string) => `spec.loadBalancerClass: Invalid value: "${value}": may not change once set`;
    expect(texts(validateServiceUpdate(balanced('a/c'), balanced('a/b')))).toEqual([problem('a/c')]);
    expect(texts(validateServiceUpdate(balanced(), balanced('a/b')))).toEqual([problem('null')]);
    expect(texts(validateServiceUpdate(balanced('a/b'), service({})))).toEqual([]);
  });

  test('keep the port of their health check', () => {
    const spec = { type: 'LoadBalancer', externalTrafficPolicy: 'Local', healthCheckNodePort: 30_001 };
    const changed = service({ ...spec, healthCheckNodePort: 30_002 });
    expect(texts(validateServiceUpdate(changed, service(spec)))).toEqual([
      'spec.healthCheckNodePort: Invalid value: 30002: cannot change healthCheckNodePort on loadBalancer service with externalTraffic=Local during update',
    ]);
  });

  test('have sound addresses in their status', () => {
    const ingress = [{ ip: 'x' }, { hostname: '1.2.3.4' }, { ip: '::1', hostname: 'a.b' }];
    const status = { loadBalancer: { ingress } };
    expect(texts(validateServiceStatusUpdate({ ...service({}), status }))).toEqual([
      'status.loadBalancer.ingress[0].ip: Invalid value: "x": must be a valid IP address',
      'status.loadBalancer.ingress[1].hostname: Invalid value: "1.2.3.4": must be a DNS name, not an IP address',
    ]);
  });
});
