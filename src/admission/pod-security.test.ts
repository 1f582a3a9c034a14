import { admissionRequest, pod, podRequest } from '../../test/fixtures/admission-request';
import type { KubeObject } from '../api/object';
import { admissionChain } from './chain';
import { parsePodSecurity, podSecurity } from './pod-security';
import { violationsOf } from './pod-security-standards';

const good = {
  securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
  containers: [{ name: 'c', securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } } }],
};
const container = (securityContext: object) => ({ containers: [{ name: 'c', securityContext }] });

describe('the Pod Security Standards', () => {
  it('allow a careful pod everywhere and a plain one at baseline', () => {
    expect(violationsOf(pod(good), 'restricted')).toEqual([]);
    expect(violationsOf(pod(), 'baseline')).toEqual([]);
    expect(violationsOf(pod(container({ privileged: true })), 'privileged')).toEqual([]);
  });

  it.each([
    [{ hostNetwork: true, hostPID: true }, 'host namespaces (hostNetwork=true, hostPID=true)'],
    [container({ privileged: true }), 'privileged (container "c" must not set securityContext.privileged=true)'],
    [
      container({ capabilities: { add: ['NET_ADMIN', 'CHOWN'] } }),
      'non-default capabilities (container "c" must not include "NET_ADMIN" in securityContext.capabilities.add)',
    ],
    [
      {
        volumes: [
          { name: 'a', hostPath: {} },
          { name: 'b', hostPath: {} },
        ],
      },
      'hostPath volumes (volumes "a", "b")',
    ],
    [{ containers: [{ name: 'c', ports: [{ hostPort: 80 }] }] }, 'hostPort (container "c" uses hostPort 80)'],
    [
      container({ procMount: 'Unmasked' }),
      'procMount (container "c" must not set securityContext.procMount to "Unmasked")',
    ],
    [
      { securityContext: { seLinuxOptions: { type: 'x', user: 'u' } } },
      'seLinuxOptions (pod set forbidden securityContext.seLinuxOptions: type "x"; user may not be set)',
    ],
    [
      container({ seccompProfile: { type: 'Unconfined' } }),
      'seccompProfile (container "c" must not set securityContext.seccompProfile.type to "Unconfined")',
    ],
    [{ securityContext: { sysctls: [{ name: 'kernel.x' }] } }, 'forbidden sysctls (kernel.x)'],
    [
      { securityContext: { windowsOptions: { hostProcess: true } } },
      'hostProcess (pod must not set securityContext.windowsOptions.hostProcess=true)',
    ],
  ])('baseline forbids %j', (spec, expected) => {
    expect(violationsOf(pod(spec), 'baseline')).toEqual([expected]);
  });

  it('restricted wants more', () => {
    expect(violationsOf(pod(), 'restricted')).toEqual([
      'allowPrivilegeEscalation != false (container "c" must set securityContext.allowPrivilegeEscalation=false)',
      'unrestricted capabilities (container "c" must set securityContext.capabilities.drop=["ALL"])',
      'runAsNonRoot != true (pod or container "c" must set securityContext.runAsNonRoot=true)',
      'seccompProfile (pod or container "c" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")',
    ]);
    expect(violationsOf(pod({ ...good, volumes: [{ name: 'v', hostPath: {} }] }), 'restricted')).toEqual([
      'hostPath volumes (volume "v")',
      'restricted volume types (volume "v" uses restricted volume type "hostPath")',
    ]);
    const root = { ...good, securityContext: { ...good.securityContext, runAsUser: 0 } };
    expect(violationsOf(pod(root), 'restricted')).toEqual(['runAsUser=0 (pod must not set runAsUser=0)']);
  });
});

function setup(labels: Record<string, string>, configuration?: unknown) {
  const warnings: string[] = [];
  const annotations: Record<string, string> = {};
  const namespace: KubeObject = { metadata: { name: 'ns', labels } };
  const chain = admissionChain([
    podSecurity(parsePodSecurity(configuration), {
      getNamespace: async () => namespace,
      listPods: () => [pod(container({ privileged: true }), { name: 'bad' }), pod(good)],
    }),
  ]);
  const record = {
    warn: (text: string) => warnings.push(text),
    annotate: (key: string, value: string) => (annotations[key] = value),
  };
  return { chain, warnings, annotations, record };
}
const label = (mode: string) => `pod-security.kubernetes.io/${mode}`;
const privileged = container({ privileged: true });

describe('PodSecurity', () => {
  it('does nothing without labels', async () => {
    const { chain, warnings, annotations, record } = setup({});
    await chain.validate(podRequest(privileged, record));
    expect([warnings, annotations]).toEqual([[], {}]);
  });

  it('refuses, warns and notes as the labels say', async () => {
    const { chain, warnings, annotations, record } = setup({
      [label('enforce')]: 'baseline',
      [label('warn')]: 'restricted',
      [label('audit')]: 'restricted',
      [label('audit-version')]: 'v1.24',
    });
    await expect(chain.validate(podRequest(privileged, record))).rejects.toThrow(
      'pods "p" is forbidden: violates PodSecurity "baseline:latest": privileged (container "c" must not set securityContext.privileged=true)',
    );
    expect(annotations[label('audit-violations')]).toMatch(/^would violate PodSecurity "restricted:v1.24": privileged/);
    await chain.validate(podRequest({}, record));
    expect(warnings).toEqual([expect.stringMatching(/^would violate PodSecurity "restricted:latest": allowPrivilege/)]);
    expect(annotations[label('enforce-policy')]).toBe('baseline:latest');
  });

  it('only warns about templates', async () => {
    const { chain, warnings, record } = setup({ [label('enforce')]: 'baseline', [label('warn')]: 'baseline' });
    const object = { metadata: { name: 'd' }, spec: { template: { spec: privileged } } };
    await chain.validate(admissionRequest({ group: 'apps', resource: 'deployments', object, ...record }));
    expect(warnings).toHaveLength(1);
  });

  it('leaves alone whoever is exempt, and updates that change nothing', async () => {
    const { chain } = setup({ [label('enforce')]: 'restricted' }, { exemptions: { usernames: ['alice'] } });
    await expect(chain.validate(podRequest(privileged))).resolves.toBeUndefined();
    const update = { operation: 'UPDATE', oldObject: pod(privileged), user: { name: 'bob', groups: [] } } as const;
    await expect(chain.validate(podRequest(privileged, update))).resolves.toBeUndefined();
  });

  it('lets a pod change as long as its images stay', async () => {
    const { chain } = setup({ [label('enforce')]: 'restricted' });
    const update = (spec: object) =>
      chain.validate(podRequest({ ...privileged, ...spec }, { operation: 'UPDATE', oldObject: pod(privileged) }));
    await expect(update({ tolerations: [{ operator: 'Exists' }] })).resolves.toBeUndefined();
    await expect(update({ containers: [{ name: 'c', image: 'another' }] })).rejects.toMatchObject({
      status: { code: 403 },
    });
  });

  const namespaceRequest = (labels: Record<string, string>, part: object = {}) =>
    admissionRequest({ resource: 'namespaces', object: { metadata: { name: 'ns', labels } }, ...part });

  it('refuses labels that say nothing', async () => {
    const { chain } = setup({});
    await expect(chain.validate(namespaceRequest({ [label('enforce')]: 'strict' }))).rejects.toMatchObject({
      status: {
        code: 422,
        message:
          'Namespace "ns" is invalid: metadata.labels[pod-security.kubernetes.io/enforce]: Invalid value: "strict": ' +
          'must be one of privileged, baseline, restricted',
      },
    });
  });

  it('warns of the pods that a tighter level would not let in', async () => {
    const { chain, warnings, record } = setup({});
    const oldObject = { metadata: { name: 'ns' } };
    const part = { operation: 'UPDATE', oldObject, ...record };
    await chain.validate(namespaceRequest({ [label('enforce')]: 'baseline' }, part));
    expect(warnings).toEqual([
      'existing pods in namespace "ns" violate the new PodSecurity enforce level "baseline:latest"',
      'bad: privileged',
    ]);
  });
});
