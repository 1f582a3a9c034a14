import { Registry } from 'prom-client';
import { admissionRequest } from '../../../test/fixtures/admission-request';
import type { KubeObject } from '../../api/object';
import type { ObjectVersions } from '../versions/object-versions';
import { PolicyMetrics } from './metrics';
import { validatingAdmissionPolicy } from './validating-admission-policy';

const policy = {
  metadata: { name: 'p' },
  spec: {
    failurePolicy: 'Ignore',
    paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
    matchConstraints: {
      resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
    },
    validations: [{ expression: 'object.metadata.name != params.metadata.name' }],
  },
};
const binding = {
  metadata: { name: 'b' },
  spec: { policyName: 'p', validationActions: ['Deny'], paramRef: { selector: {}, parameterNotFoundAction: 'Allow' } },
};
const versions = {
  generation: () => 0,
  equivalents: () => [],
  toVersion: (object: KubeObject) => object,
} as unknown as ObjectVersions;

/** The plugin, whose parameters are asked for one by one. */
const pluginWith = (list: () => AsyncIterable<KubeObject>) =>
  validatingAdmissionPolicy({
    listPolicies: () => [policy],
    listBindings: () => [binding],
    revision: () => 1,
    getNamespace: (name) => ({ metadata: { name } }),
    params: () => ({ namespaced: true, get: () => undefined, list }),
    versions,
    authorize: () => ({ decision: 'no-opinion', reason: '' }),
    metrics: new PolicyMetrics(new Registry()),
  });

it('evaluates a policy with each of the parameters', async () => {
  const plugin = pluginWith(async function* () {
    for (const name of ['a', 'b', 'c']) yield { metadata: { name } };
  });
  await expect(plugin.validate!(admissionRequest())).rejects.toThrow(
    'failed expression: object.metadata.name != params.metadata.name',
  );
});

it('looks at no more parameters for a client that has gone, and admits nothing', async () => {
  const client = new AbortController();
  let seen = 0;
  const plugin = pluginWith(async function* () {
    for (; seen < 100; seen++) {
      if (seen === 10) client.abort(new Error('the client has gone'));
      yield { metadata: { name: `p${seen}` } };
    }
  });
  const request = admissionRequest({ signal: () => client.signal });
  await expect(plugin.validate!(request)).rejects.toThrow('the client has gone');
  expect(seen).toBe(10);
});
