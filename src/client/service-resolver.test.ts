import type { KubeObject } from '../api/object';
import { byClusterAddress, byEndpoint, withOurselves, type ServiceLookup } from './service-resolver';

const services: Readonly<Record<string, object>> = {
  plain: { type: 'ClusterIP', clusterIP: '10.0.0.7', ports: [{ name: 'https', port: 443 }] },
  headless: { type: 'ClusterIP', clusterIP: 'None', ports: [{ port: 443 }] },
  outside: { type: 'ExternalName', externalName: 'hooks.example.com' },
  odd: { type: 'Odd' },
};

const lookup: ServiceLookup = {
  getService: (_namespace, name) => {
    const spec = services[name];
    return spec && { metadata: { name }, spec };
  },
  getEndpoints: (_namespace, name): KubeObject | undefined =>
    name === 'plain'
      ? {
          metadata: { name },
          subsets: [
            { notReadyAddresses: [{ ip: '10.1.0.1' }], ports: [{ name: 'https', port: 8443 }] },
            { addresses: [{ ip: '10.1.0.2' }], ports: [{ name: 'metrics', port: 9090 }] },
            { addresses: [{ ip: '10.1.0.3' }, { ip: '10.1.0.4' }], ports: [{ name: 'https', port: 8443 }] },
          ],
        }
      : undefined,
};

function problemOf(run: () => unknown): string {
  try {
    return JSON.stringify(run());
  } catch (error) {
    return (error as Error).message;
  }
}

describe('a service is found', () => {
  const resolve = byClusterAddress(lookup);

  it('at its address, or outside of the cluster under its other name', () => {
    expect(resolve('ns', 'plain', 443)).toEqual({ host: '10.0.0.7', port: 443 });
    expect(resolve('ns', 'outside', 8443)).toEqual({ host: 'hooks.example.com', port: 8443 });
  });

  it.each([
    ['that is not there', 'none', 443, 'service "none" not found'],
    ['without such a port', 'plain', 444, 'no service port 444 found for service "plain"'],
    ['without an address', 'headless', 443, 'cannot route to service with ClusterIP "None"'],
    ['of an unknown type', 'odd', 443, 'unsupported service type "Odd"'],
  ])('not when one %s is meant', (_what, name, port, message) => {
    expect(problemOf(() => resolve('ns', name, port))).toBe(message);
  });
});

describe('an endpoint of a service is found', () => {
  it('among those that are ready and have the port of that name', () => {
    expect(byEndpoint(lookup, () => 0)('ns', 'plain', 443)).toEqual({ host: '10.1.0.3', port: 8443 });
    expect(byEndpoint(lookup, () => 0.99)('ns', 'plain', 443)).toEqual({ host: '10.1.0.4', port: 8443 });
  });

  it('not where there are none', () => {
    const resolve = byEndpoint(lookup, () => 0);
    expect(problemOf(() => resolve('ns', 'headless', 443))).toBe('endpoints "headless" not found');
    const empty = byEndpoint({ ...lookup, getEndpoints: () => ({ metadata: {} }) }, () => 0);
    expect(problemOf(() => empty('ns', 'plain', 443))).toBe('no endpoints available for service "plain"');
  });
});

it('the service of the API server leads to this one', () => {
  const resolve = withOurselves(byClusterAddress(lookup), () => ({ host: '127.0.0.1', port: 6443 }));
  expect(resolve('default', 'kubernetes', 443)).toEqual({ host: '127.0.0.1', port: 6443 });
  expect(problemOf(() => resolve('other', 'kubernetes', 443))).toBe('service "kubernetes" not found');
});
