import type { KubeObject } from '../api/object';
import { admissionRequest } from '../../test/fixtures/admission-request';
import { admissionChain } from './chain';
import { namespaceLifecycle } from './namespace-lifecycle';
import type { AdmissionAttributes } from './plugin';

const namespaces: Record<string, KubeObject> = {
  live: { metadata: { name: 'live' }, status: { phase: 'Active' } },
  dying: { metadata: { name: 'dying' }, status: { phase: 'Terminating' } },
};
const chain = admissionChain([namespaceLifecycle(async (name) => namespaces[name])]);

const request = (part: Partial<AdmissionAttributes>): AdmissionAttributes =>
  admissionRequest({ namespace: 'live', ...part });

describe('NamespaceLifecycle', () => {
  it('lets objects into a live namespace', async () => {
    const attributes = request({});
    await expect(chain.mutate(attributes)).resolves.toBe(attributes.object);
  });

  it('answers 404 for a namespace that does not exist', async () => {
    await expect(chain.mutate(request({ namespace: 'none' }))).rejects.toMatchObject({
      status: { code: 404, message: 'namespaces "none" not found' },
    });
  });

  it('lets nothing new into a namespace that is being deleted, but lets what is there change', async () => {
    await expect(chain.mutate(request({ namespace: 'dying' }))).rejects.toMatchObject({
      status: {
        code: 403,
        message:
          'configmaps "c" is forbidden: unable to create new content in namespace dying because it is being terminated',
        details: { causes: [{ reason: 'NamespaceTerminating', field: 'metadata.namespace' }] },
      },
    });
    await expect(chain.mutate(request({ namespace: 'dying', operation: 'UPDATE' }))).resolves.toBeDefined();
  });

  it('keeps the namespaces that a cluster cannot do without', async () => {
    const remove = async (name: string) =>
      chain.mutate(request({ operation: 'DELETE', resource: 'namespaces', namespace: name, name, object: undefined }));
    await expect(remove('default')).rejects.toMatchObject({
      status: { code: 403, message: 'namespaces "default" is forbidden: this namespace may not be deleted' },
    });
    await expect(remove('live')).resolves.toBeUndefined();
  });
});
