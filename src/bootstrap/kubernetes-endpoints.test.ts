import type { KubeObject } from '../api/object';
import { wantedEndpoints, wantedEndpointSlice } from './kubernetes-endpoints';

const ADDRESSES = ['192.0.2.1', '192.0.2.2'];

describe('the endpoints of the kubernetes Service', () => {
  it('are all live servers, on one port, and are not mirrored into slices', () => {
    expect(wantedEndpoints(undefined, ADDRESSES, 6443)).toEqual({
      kind: 'Endpoints',
      apiVersion: 'v1',
      metadata: {
        name: 'kubernetes',
        namespace: 'default',
        labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' },
      },
      subsets: [
        {
          addresses: [{ ip: '192.0.2.1' }, { ip: '192.0.2.2' }],
          ports: [{ name: 'https', port: 6443, protocol: 'TCP' }],
        },
      ],
    });
  });

  it('stay the very object when they say so already, in whatever order', () => {
    const existing = wantedEndpoints(undefined, ADDRESSES, 6443);
    expect(wantedEndpoints(existing, [...ADDRESSES].reverse(), 6443)).toBe(existing);
  });

  const base = wantedEndpoints(undefined, ADDRESSES, 6443);
  const labelled: KubeObject = { ...base, metadata: { ...base.metadata, labels: { mine: 'yes' }, uid: 'u' } };
  it.each<[string, KubeObject, readonly string[], number]>([
    ['a server has come', base, [...ADDRESSES, '192.0.2.3'], 6443],
    ['a server has gone', base, ['192.0.2.2'], 6443],
    ['the port is another', base, ADDRESSES, 443],
    ['they are split', { ...base, subsets: [...(base.subsets as object[]), {}] }, ADDRESSES, 6443],
    ['they are empty', { ...base, subsets: undefined }, ADDRESSES, 6443],
    ['the label is missing', labelled, ADDRESSES, 6443],
  ])('are corrected when %s', (_, existing, addresses, port) => {
    const wanted = wantedEndpoints(existing, addresses, port);
    expect(wanted.subsets).toEqual(wantedEndpoints(undefined, addresses, port).subsets);
    expect(wanted.metadata).toMatchObject(wantedEndpoints(undefined, addresses, port).metadata);
    expect(wanted.metadata.uid).toBe(existing.metadata.uid);
    expect(wantedEndpoints(wanted, addresses, port)).toBe(wanted);
  });

  it.each([
    ['IPv4', ADDRESSES],
    ['IPv6', ['2001:db8::1']],
  ])('are an EndpointSlice of %s too', (addressType, addresses) => {
    expect(wantedEndpointSlice(undefined, addresses, 6443)).toEqual({
      kind: 'EndpointSlice',
      apiVersion: 'discovery.k8s.io/v1',
      metadata: { name: 'kubernetes', namespace: 'default', labels: { 'kubernetes.io/service-name': 'kubernetes' } },
      addressType,
      endpoints: addresses.map((address) => ({ addresses: [address], conditions: { ready: true } })),
      ports: [{ name: 'https', port: 6443, protocol: 'TCP' }],
    });
  });
});
