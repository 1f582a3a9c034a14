import fc from 'fast-check';
import {
  appliedPaths,
  conflictsOf,
  changedPaths,
  ownersAfterApply,
  ownersAfterUpdate,
  pathsOf,
  pathsOfNothing,
  printedOwners,
  recordedOwners,
  withInferred,
  type Owners,
  type Paths,
} from '../../src/api/apply/ownership-model.fixture';
import { isObject } from '../../src/api/apply/members';
import { decisions, REAL_KINDS, variantOf, type RealKind } from '../../src/api/apply/real-objects.fixture';
import type { JsonObject, JsonValue, KubeObject } from '../../src/api/object';
import { jsonDiff, mergeDiff, strategicDiff } from '../../src/api/patch/diff.fixture';
import { clientOfOwnServer } from '../support/raw-client';

/**
 * Several managers write to one object over HTTP, by every verb that can change it. After each write the server's
 * managedFields are what the rules say, computed from scratch from what it answered before and after.
 * `STERNPOST_LAW_RUNS` raises the number of objects.
 */

const RUNS = Math.ceil(Number(process.env.STERNPOST_LAW_RUNS ?? 150) / 3);
const WRITES = 6;

const labels = { app: 'a' };

/** A whole object, and the part of it without which it is not valid. */
interface Sample {
  readonly path: string;
  readonly kind: RealKind;
  readonly whole: JsonObject;
  readonly least: JsonObject;
}

function sample(path: string, apiVersion: string, kind: string, least: JsonObject, whole: JsonObject): Sample {
  const [version = '', group = ''] = apiVersion.split('/').reverse();
  const found = REAL_KINDS.find(({ gvk }) => gvk.group === group && gvk.version === version && gvk.kind === kind);
  if (found === undefined) throw new Error(`no kind ${kind}`);
  const metadata = {
    name: 'x',
    labels: { a: 'a', b: 'b' },
    annotations: { n: 'a' },
    finalizers: ['e.com/a', 'e.com/b'],
  };
  return {
    path,
    kind: found,
    whole: laid({ apiVersion, kind, metadata }, laid(whole, least)),
    least: { apiVersion, kind, metadata: { name: 'x' }, ...least },
  };
}

const container = { name: 'c', image: 'a' };
/** Of kinds that no controller in the server's process writes to: it would be a manager that the model cannot foresee. */
const SAMPLES: readonly Sample[] = [
  sample('/api/v1/namespaces/default/configmaps', 'v1', 'ConfigMap', {}, { data: { a: 'a', b: 'b', c: 'c' } }),
  sample(
    '/apis/apps/v1/namespaces/default/deployments',
    'apps/v1',
    'Deployment',
    {
      spec: {
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [container] } },
      },
    },
    {
      spec: {
        replicas: 2,
        minReadySeconds: 3,
        template: {
          metadata: { annotations: { a: 'a', b: 'b' } },
          spec: {
            containers: [
              {
                ...container,
                args: ['a', 'b'],
                env: [
                  { name: 'A', value: 'a' },
                  { name: 'B', value: 'b' },
                ],
                ports: [
                  { containerPort: 80, protocol: 'TCP', name: 'a' },
                  { containerPort: 81, protocol: 'TCP' },
                ],
                resources: { limits: { cpu: '1', memory: '1Gi' } },
              },
            ],
            hostAliases: [{ ip: '10.0.0.1', hostnames: ['a', 'b'] }],
            nodeSelector: { a: 'a', b: 'b' },
            tolerations: [{ key: 'a', operator: 'Exists' }],
          },
        },
      },
    },
  ),
  sample(
    '/apis/networking.k8s.io/v1/namespaces/default/networkpolicies',
    'networking.k8s.io/v1',
    'NetworkPolicy',
    { spec: { podSelector: { matchLabels: labels } } },
    { spec: { ingress: [{ ports: [{ protocol: 'TCP', port: 80 }] }] } },
  ),
  sample(
    '/apis/rbac.authorization.k8s.io/v1/clusterroles',
    'rbac.authorization.k8s.io/v1',
    'ClusterRole',
    {},
    {
      rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get', 'list'] }],
    },
  ),
];

/** One value over another: maps member by member, keyed lists by name, everything else whole. */
function laid(below: JsonValue | undefined, above: JsonObject): JsonObject {
  const result: Record<string, JsonValue> = { ...(isObject(below) ? below : {}) } as Record<string, JsonValue>;
  for (const [name, value] of Object.entries(above) as [string, JsonValue][]) {
    const old = result[name];
    if (isObject(value)) result[name] = laid(old, value);
    else if (name === 'containers' && Array.isArray(old)) result[name] = [laid(old[0] as JsonValue, container)];
    else result[name] = value;
  }
  return result;
}

const HOWS = ['put', 'merge', 'json', 'strategic', 'apply', 'force'] as const;
type How = (typeof HOWS)[number];

const client = clientOfOwnServer();

/** What a client sends: what it wants instead of what it read. */
function bodyOf(how: How, { type }: RealKind, live: KubeObject | undefined, wanted: JsonObject): [string, JsonValue] {
  const before = (live ?? {}) as unknown as JsonObject;
  const { status, ...rest } = before;
  const target: JsonObject = {
    ...(status === undefined ? {} : { status }),
    ...wanted,
    metadata: { ...(rest['metadata'] as JsonObject), ...withoutKeys(wanted['metadata'] as JsonObject) },
  };
  switch (how) {
    case 'put':
      return ['application/json', wanted];
    case 'merge':
      return ['application/merge-patch+json', mergeDiff(before, target)];
    case 'json':
      return ['application/json-patch+json', jsonDiff(before, target)];
    case 'strategic':
      return ['application/strategic-merge-patch+json', strategicDiff(type, before, target)];
    case 'apply':
    case 'force':
      return ['application/apply-patch+yaml', wanted];
  }
}

function withoutKeys(metadata: JsonObject): JsonObject {
  return { labels: {}, annotations: {}, finalizers: [], ...metadata };
}

describe('field ownership over HTTP', () => {
  it('is what a computation from scratch says after every write, whoever writes and how', async () => {
    const write = fc.tuple(fc.constantFrom('one', 'two', 'three'), fc.constantFrom(...HOWS), decisions);
    const writes = fc.array(write, { minLength: WRITES, maxLength: WRITES });
    let number = 0;
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...SAMPLES), writes, async ({ path, kind, whole, least }, plan) => {
        const { type } = kind;
        const name = `x${(number += 1)}`;
        let live: KubeObject | undefined;
        let paths: Paths = pathsOfNothing(type);
        let owners: Owners = new Map();
        for (const [manager, how, drawn] of plan) {
          const applies = how === 'apply' || how === 'force';
          const part = laid(variantOf(type, whole, drawn, true), least);
          const wanted: JsonObject = { ...part, metadata: { ...(part['metadata'] as JsonObject), name } };
          const [mediaType, body] = bodyOf(how, kind, live, wanted);
          const create = live === undefined && !applies;
          const query = `?fieldManager=${manager}${how === 'force' ? '&force=true' : ''}`;
          const response = await client.send(
            create ? 'POST' : how === 'put' ? 'PUT' : 'PATCH',
            (create ? path : `${path}/${name}`) + query,
            JSON.stringify(create ? wanted : body),
            create ? 'application/json' : mediaType,
          );
          const known = withInferred(owners, type, live);
          if (response.status === 409 && how === 'apply') {
            const changed = changedPaths(paths, pathsOf(type, wanted));
            expect(conflictsOf(known, changed, manager)).not.toEqual([]);
            continue;
          }
          expect([response.status < 300, response.body]).toEqual([true, response.body]);
          const after = pathsOf(type, response.body);
          owners = applies
            ? ownersAfterApply(owners, known, paths, after, manager, appliedPaths(type, wanted))
            : ownersAfterUpdate(owners, known, paths, after, manager);
          expect([how, printedOwners(recordedOwners(response.body))]).toEqual([how, printedOwners(owners)]);
          if (!applies) await expectRepeatedWriteToBeNone(`${path}/${name}?fieldManager=${manager}`, response.body);
          if (owners.size === 0) return;
          paths = after;
          live = response.body;
        }
      }),
      { numRuns: RUNS },
    );
  }, 600_000);
});

/** A PUT of what was answered. */
async function expectRepeatedWriteToBeNone(path: string, object: KubeObject): Promise<void> {
  const { body } = await client.send('PUT', path, JSON.stringify(object));
  expect(body.metadata.resourceVersion).toBe(object.metadata.resourceVersion);
}
