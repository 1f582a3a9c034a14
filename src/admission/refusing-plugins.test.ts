import { admissionOutcome, admissionRequest, pod, podRequest } from '../../test/fixtures/admission-request';
import type { KubeObject } from '../api/object';
import { alwaysAdmit } from './always-admit';
import { alwaysDeny } from './always-deny';
import { admissionChain } from './chain';
import { denyEscalatingExec, denyExecOnPrivileged } from './deny-exec';
import { denyServiceExternalIPs } from './deny-service-external-ips';
import { eventRateLimit, parseEventRateLimit } from './event-rate-limit';
import { limitPodHardAntiAffinityTopology } from './limit-pod-hard-anti-affinity-topology';
import type { AdmissionAttributes, AdmissionPlugin } from './plugin';
import { securityContextDeny } from './security-context-deny';

const outcome = (plugin: AdmissionPlugin, attributes: AdmissionAttributes) =>
  admissionOutcome(() => admissionChain([plugin]).validate(attributes));

describe('AlwaysAdmit and AlwaysDeny', () => {
  it('do what they say', async () => {
    expect(await outcome(alwaysAdmit, admissionRequest())).toBe('admitted');
    expect(await outcome(alwaysDeny, admissionRequest())).toBe(
      'configmaps "c" is forbidden: admission control is denying all modifications',
    );
  });
});

describe('SecurityContextDeny', () => {
  it.each([
    [{ securityContext: { runAsUser: 1 } }, 'pod.Spec.SecurityContext.RunAsUser is forbidden'],
    [{ securityContext: { fsGroup: 1 } }, 'pod.Spec.SecurityContext.FSGroup is forbidden'],
    [{ containers: [{ name: 'c', securityContext: { runAsUser: 0 } }] }, ': SecurityContext.RunAsUser is forbidden'],
    [{ containers: [{ name: 'c', securityContext: { privileged: true } }] }, 'admitted'],
  ])('%j: %s', async (spec, expected) => {
    expect(await outcome(securityContextDeny, podRequest(spec))).toContain(expected);
  });
});

describe('LimitPodHardAntiAffinityTopology', () => {
  const spec = (topologyKey: string) => ({
    affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey }] } },
  });
  it('allows the hostname only', async () => {
    const plugin = limitPodHardAntiAffinityTopology;
    expect(await outcome(plugin, podRequest(spec('kubernetes.io/hostname')))).toBe('admitted');
    expect(await outcome(plugin, podRequest(spec('zone')))).toContain(
      'affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey zone but only key kubernetes.io/hostname is allowed',
    );
  });
});

describe('DenyServiceExternalIPs', () => {
  const service = (...externalIPs: string[]): KubeObject => ({ metadata: { name: 's' }, spec: { externalIPs } });
  const change = (object: KubeObject, oldObject?: KubeObject) =>
    outcome(
      denyServiceExternalIPs,
      admissionRequest({ resource: 'services', operation: oldObject ? 'UPDATE' : 'CREATE', object, oldObject }),
    );
  it('lets addresses stay and go, and no new ones come', async () => {
    expect(await change(service())).toBe('admitted');
    expect(await change(service('1.1.1.1'))).toContain('Use of external IPs is denied by admission control.');
    expect(await change(service('1.1.1.1'), service('1.1.1.1', '2.2.2.2'))).toBe('admitted');
    expect(await change(service('1.1.1.1', '3.3.3.3'), service('1.1.1.1'))).toContain('denied');
  });
});

describe('DenyEscalatingExec and DenyExecOnPrivileged', () => {
  const exec = (plugin: typeof denyEscalatingExec, spec: object) =>
    outcome(
      plugin(async () => pod(spec)),
      podRequest({}, { operation: 'CONNECT', subresource: 'exec', name: 'p', object: undefined }),
    );
  it('keep commands out of pods with more rights than others', async () => {
    const privileged = { containers: [{ name: 'c', securityContext: { privileged: true } }] };
    expect(await exec(denyEscalatingExec, {})).toBe('admitted');
    expect(await exec(denyEscalatingExec, privileged)).toContain(
      'cannot exec into or attach to a privileged container',
    );
    expect(await exec(denyEscalatingExec, { hostPID: true })).toContain('a container using host pid');
    expect(await exec(denyExecOnPrivileged, { hostPID: true })).toBe('admitted');
    expect(await exec(denyExecOnPrivileged, privileged)).toContain('privileged container');
  });

  it('refuse what is asked of a pod that is not there', async () => {
    const request = podRequest({}, { operation: 'CONNECT', subresource: 'exec', name: 'p', object: undefined });
    expect(
      await outcome(
        denyEscalatingExec(async () => undefined),
        request,
      ),
    ).toBe('pods "p" is forbidden: pods "p" not found');
  });
});

describe('EventRateLimit', () => {
  const event = (name: string, part: Partial<AdmissionAttributes> = {}) =>
    admissionRequest({
      resource: 'events',
      object: { metadata: { name: 'e' }, source: { component: 'c' }, involvedObject: { kind: 'Pod', name } },
      ...part,
    });

  it('lets a burst pass and then so many a second', async () => {
    let now = 0;
    const plugin = eventRateLimit([{ type: 'SourceAndObject', qps: 1, burst: 2, cacheSize: 10 }], () => now);
    const results = [
      await outcome(plugin, event('p')),
      await outcome(plugin, event('p')),
      await outcome(plugin, event('p')),
    ];
    expect(results).toEqual([
      'admitted',
      'admitted',
      'Too many requests: limit reached on type SourceAndObject for key cPodp',
    ]);
    expect(await outcome(plugin, event('q'))).toBe('admitted');
    expect(await outcome(plugin, event('p', { dryRun: true }))).toBe('admitted');
    now = 1000;
    expect(await outcome(plugin, event('p'))).toBe('admitted');
    expect(await outcome(plugin, event('p'))).toContain('Too many requests');
  });

  it('forgets the keys that were not used for longest', async () => {
    const plugin = eventRateLimit([{ type: 'User', qps: 1, burst: 1, cacheSize: 1 }], () => 0);
    const by = (name: string) => outcome(plugin, event('p', { user: { name, groups: [] } }));
    expect(await by('a')).toBe('admitted');
    expect(await by('a')).toContain('for key a');
    expect(await by('b')).toBe('admitted');
    expect(await by('a')).toBe('admitted');
  });

  it('reads its configuration', () => {
    expect(parseEventRateLimit({ limits: [{ type: 'Server', qps: 1, burst: 5 }] })).toEqual([
      { type: 'Server', qps: 1, burst: 5, cacheSize: 4096 },
    ]);
    expect(() => parseEventRateLimit({})).toThrow('must not be empty');
    expect(() => parseEventRateLimit({ limits: [{ type: 'Nobody', qps: 0, burst: 1 }] })).toThrow(
      'limits[0].type: must be one of Server, Namespace, User, SourceAndObject; limits[0].qps: must be positive',
    );
  });
});
