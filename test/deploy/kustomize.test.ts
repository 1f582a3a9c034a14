import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { loadAll } from 'js-yaml';
import { startApiServer, type ApiServer } from '../../src';
import { CHART, Helm, type Rendered } from '../helm/support/helm';
import { HELM_MAJORS } from '../helm/support/helm-binary';
import { Kubectl } from '../support/kubectl';
import { RawClient } from '../support/raw-client';

jest.setTimeout(120_000);

const FOLDER = resolve(__dirname, '../../deploy/kustomize');

const COLLECTIONS: Readonly<Record<string, string>> = {
  ServiceAccount: '/api/v1/namespaces/default/serviceaccounts',
  Service: '/api/v1/namespaces/default/services',
  ConfigMap: '/api/v1/namespaces/default/configmaps',
  Deployment: '/apis/apps/v1/namespaces/default/deployments',
  PodDisruptionBudget: '/apis/policy/v1/namespaces/default/poddisruptionbudgets',
  NetworkPolicy: '/apis/networking.k8s.io/v1/namespaces/default/networkpolicies',
};

/** What tells of a release of Helm's, and where it is. */
const HELMS = new Set(['app.kubernetes.io/managed-by', 'helm.sh/chart', 'namespace']);
const withoutHelm = (key: string, value: unknown): unknown => (HELMS.has(key) ? undefined : value);

describe('the base for kustomize', () => {
  let server: ApiServer;
  let client: RawClient;
  let kubectl: Kubectl;
  beforeAll(async () => {
    server = await startApiServer({ controllers: [] });
    client = new RawClient(server);
    kubectl = new Kubectl(server.kubeconfig);
  });
  afterAll(async () => {
    kubectl.remove();
    client.close();
    await server.stop();
  });

  it.each(HELM_MAJORS)('is what Helm %d makes of the chart', async (major) => {
    const helm = new Helm(major);
    const { stdout } = await helm.run('template', 'sternpost', CHART, '--values', `${FOLDER}/values.yaml`);
    helm.remove();
    const objects = (yaml: string) =>
      (loadAll(yaml) as readonly (Rendered | null)[])
        .filter((object) => object !== null)
        .map((object) => JSON.parse(JSON.stringify(object, withoutHelm)) as Rendered)
        .sort((a, b) => `${a['kind']}/${a['metadata'].name}`.localeCompare(`${b['kind']}/${b['metadata'].name}`));
    expect(objects(readFileSync(`${FOLDER}/base.yaml`, 'utf8'))).toEqual(objects(stdout));
  });

  it('is rendered by kubectl into objects of which a server knows every field', async () => {
    const { stdout } = await kubectl.run(['kustomize', FOLDER]);
    const objects = loadAll(stdout) as readonly Rendered[];
    expect(objects.filter(({ kind }) => kind === 'Deployment')).toHaveLength(2);
    for (const object of objects) {
      const collection = COLLECTIONS[String(object['kind'])] ?? `no collection of ${String(object['kind'])}`;
      const { status, body } = await client.send(
        'POST',
        `${collection}?fieldValidation=Strict`,
        JSON.stringify(object),
      );
      expect({ status, message: body['message'] }).toEqual({ status: 201, message: undefined });
    }
  });
});
