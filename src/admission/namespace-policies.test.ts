import { admissionRequest, podRequest } from '../../test/fixtures/admission-request';
import type { KubeObject } from '../api/object';
import { admissionChain } from './chain';
import { namespaceAutoProvision } from './namespace-auto-provision';
import { namespaceExists } from './namespace-exists';
import { parseNodeSelector, podNodeSelector } from './pod-node-selector';
import { podTolerationRestriction } from './pod-toleration-restriction';

const namespaceWith = (annotations: Record<string, string>) => async (): Promise<KubeObject> => ({
  metadata: { name: 'ns', annotations },
});

describe('NamespaceAutoProvision and NamespaceExists', () => {
  it('creates what is missing, but not for a dry run', async () => {
    const created: string[] = [];
    const chain = admissionChain([
      namespaceAutoProvision({
        getNamespace: async (name) => (name === 'there' ? { metadata: { name } } : undefined),
        createNamespace: async (name) => {
          created.push(name);
        },
      }),
    ]);
    await chain.mutate(admissionRequest({ namespace: 'there' }));
    await chain.mutate(admissionRequest({ namespace: 'dry', dryRun: true }));
    await chain.mutate(admissionRequest({ namespace: 'new' }));
    expect(created).toEqual(['new']);
  });

  it('refuses changes in a namespace that does not exist', async () => {
    const chain = admissionChain([namespaceExists(async () => undefined)]);
    await expect(chain.validate(admissionRequest({ operation: 'DELETE' }))).rejects.toMatchObject({
      status: { code: 404, message: 'namespaces "ns" not found' },
    });
    await expect(chain.validate(admissionRequest({ namespace: '' }))).resolves.toBeUndefined();
  });
});

describe('PodNodeSelector', () => {
  const annotation = 'scheduler.alpha.kubernetes.io/node-selector';
  const chainWith = (annotations: Record<string, string>, selectors: Record<string, string> = {}) =>
    admissionChain([podNodeSelector(selectors, namespaceWith(annotations))]);
  const selector = async (chain: ReturnType<typeof chainWith>, nodeSelector: object) =>
    ((await chain.mutate(podRequest({ nodeSelector })))?.spec as { nodeSelector: object }).nodeSelector;

  it("adds the namespace's labels, or the cluster's", async () => {
    const own = chainWith({ [annotation]: 'env=prod, zone=a' });
    expect(await selector(own, { disk: 'ssd' })).toEqual({ env: 'prod', zone: 'a', disk: 'ssd' });
    const cluster = chainWith({}, { clusterDefaultNodeSelector: 'pool=general' });
    expect(await selector(cluster, {})).toEqual({ pool: 'general' });
    expect(await selector(chainWith({ [annotation]: '' }, { clusterDefaultNodeSelector: 'a=b' }), {})).toEqual({});
  });

  it('refuses contradictions, bad selectors and labels that are not allowed', async () => {
    await expect(selector(chainWith({ [annotation]: 'env=prod' }), { env: 'dev' })).rejects.toThrow(
      'pod node label selector conflicts with its namespace node label selector',
    );
    await expect(selector(chainWith({ [annotation]: 'bad selector!' }), {})).rejects.toThrow(
      'invalid selector: [bad selector!]',
    );
    await expect(
      chainWith({}, { ns: 'env=prod' }).validate(podRequest({ nodeSelector: { disk: 'ssd' } })),
    ).rejects.toThrow('pod node label selector labels conflict with its namespace whitelist');
  });

  it('reads selectors', () => {
    expect(parseNodeSelector('')).toEqual({});
    expect(parseNodeSelector('a=b,c=')).toEqual({ a: 'b', c: '' });
  });
});

describe('PodTolerationRestriction', () => {
  const chainWith = (defaults: object[], whitelist: object[] = []) =>
    admissionChain([
      podTolerationRestriction(
        { default: [], whitelist: [] },
        namespaceWith({
          'scheduler.alpha.kubernetes.io/defaultTolerations': JSON.stringify(defaults),
          'scheduler.alpha.kubernetes.io/tolerationsWhitelist': JSON.stringify(whitelist),
        }),
      ),
    ]);
  const one = { key: 'a', operator: 'Equal', value: '1', effect: 'NoSchedule' };
  const mutate = async (chain: ReturnType<typeof chainWith>, spec: object) =>
    ((await chain.mutate(podRequest(spec)))?.spec as { tolerations?: object[] }).tolerations;

  it("adds the namespace's defaults, unless the pod's own cover them", async () => {
    const other = { key: 'b', operator: 'Exists' };
    expect(await mutate(chainWith([one]), { tolerations: [other] })).toEqual([other, one]);
    const wide = { key: 'a', operator: 'Exists', effect: 'NoSchedule' };
    expect(await mutate(chainWith([one]), { tolerations: [wide] })).toEqual([wide]);
    const different = { ...one, value: '2' };
    expect(await mutate(chainWith([one]), { tolerations: [different] })).toEqual([different, one]);
  });

  it('lets pods that asked for memory stay when it runs short', async () => {
    const containers = [{ name: 'c', resources: { requests: { memory: '1Mi' } } }];
    expect(await mutate(chainWith([]), { containers })).toEqual([
      { key: 'node.kubernetes.io/memory-pressure', operator: 'Exists', effect: 'NoSchedule' },
    ]);
  });

  it('refuses what the whitelist does not cover', async () => {
    const chain = chainWith([], [{ key: 'w', operator: 'Exists' }]);
    expect(await mutate(chain, { tolerations: [{ key: 'w', operator: 'Equal', value: 'x' }] })).toHaveLength(1);
    await expect(mutate(chain, { tolerations: [one] })).rejects.toThrow('conflict with its namespace whitelist');
  });
});
