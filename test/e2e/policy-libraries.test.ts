import { GATEKEEPER } from '../fixtures/policy-libraries/gatekeeper';
import { KYVERNO } from '../fixtures/policy-libraries/kyverno';
import { POD_SECURITY } from '../fixtures/policy-libraries/pod-security';
import type { PolicyCase, Request, ResourceName, TestObject } from '../fixtures/policy-libraries/policy-case';
import { clientOfOwnServer, type RawResponse } from '../support/raw-client';
import { until } from '../support/until';

/** What public libraries of policies are about, as ValidatingAdmissionPolicies that decide about real requests. */

const LIBRARIES = { Gatekeeper: GATEKEEPER, Kyverno: KYVERNO, 'Pod security': POD_SECURITY };
const GROUP = '/apis/admissionregistration.k8s.io/v1';

const client = clientOfOwnServer();
const send = (method: string, path: string, object?: object) =>
  client.send(method, path, object && JSON.stringify(object));

function pathOf({ group, version, plural, namespaced }: ResourceName): string {
  const api = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  return `${api}${namespaced ? '/namespaces/default' : ''}/${plural}`;
}

async function made(path: string, object: object): Promise<void> {
  const { status, body } = await send('POST', path, object);
  expect({ status, message: body.message }).toEqual({ status: 201, message: undefined });
}

/** Puts a policy into force for objects with its name as a label. */
async function enforce({ name, about, operations = ['CREATE'], spec, params }: PolicyCase): Promise<void> {
  const { group, version, plural } = about;
  const rule = { apiGroups: [group], apiVersions: [version], operations, resources: [plural] };
  const paramKind = params && { apiVersion: 'v1', kind: 'ConfigMap' };
  const paramRef = params && { name: `${name}-params`, namespace: 'default', parameterNotFoundAction: 'Deny' };
  if (params)
    await made('/api/v1/namespaces/default/configmaps', { metadata: { name: `${name}-params` }, data: params });
  await made(`${GROUP}/validatingadmissionpolicies`, {
    metadata: { name },
    spec: { ...spec, matchConstraints: { resourceRules: [rule] }, ...(paramKind && { paramKind }) },
  });
  const matchResources = { objectSelector: { matchLabels: { case: name } } };
  await made(`${GROUP}/validatingadmissionpolicybindings`, {
    metadata: { name },
    spec: { policyName: name, validationActions: ['Deny'], matchResources, ...(paramRef && { paramRef }) },
  });
}

let count = 0;

/** Makes the request that the policy is to decide about. */
async function request({ name, about }: PolicyCase, { object, becomes, isDeleted }: Request): Promise<RawResponse> {
  const path = pathOf(about);
  const named = (one: TestObject): object => {
    const { labels, annotations } = one.metadata ?? {};
    return { ...one, metadata: { name: objectName, labels: { ...labels, case: name }, annotations } };
  };
  const objectName = `${name}-${count++}`;
  if (becomes === undefined && isDeleted === undefined) return send('POST', `${path}?dryRun=All`, named(object));
  await made(path, named(object));
  return becomes === undefined
    ? send('DELETE', `${path}/${objectName}`)
    : send('PUT', `${path}/${objectName}`, named(becomes));
}

describe.each(Object.entries(LIBRARIES))('%s', (_library, cases) => {
  beforeAll(async () => {
    for (const one of cases) await enforce(one);
    // The last one is in force: so are those before it.
    const last = cases.at(-1) as PolicyCase;
    await until(
      () => request(last, last.denied[0] as Request),
      ({ status }) => status >= 400,
    );
  }, 30_000);

  it.each(cases)('$name: lets pass what is right, and refuses what is wrong', async (one) => {
    for (const allowed of one.allowed) {
      const { status, body } = await request(one, allowed);
      expect({ isRefused: status >= 400, message: body.message }).toEqual({ isRefused: false, message: undefined });
    }
    for (const denied of one.denied) {
      const { body } = await request(one, denied);
      expect(body.message).toContain(
        `ValidatingAdmissionPolicy '${one.name}' with binding '${one.name}' denied request: `,
      );
      expect(body.message).toContain(one.message);
    }
  });
});
