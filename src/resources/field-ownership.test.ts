import { deployment } from '../api/kinds/apps/deployment';
import { horizontalPodAutoscaler } from '../api/kinds/autoscaling/horizontal-pod-autoscaler';
import { event } from '../api/kinds/events/event';
import type { KindDefinition } from '../api/kinds/kind-definition';
import { runtimeClass } from '../api/kinds/node/runtime-class';
import { apiVersionOf, type KubeObject } from '../api/object';
import { loadBuiltinSchema } from '../api/schema/builtin-schema';
import type { Catalogue, ServedResource } from './served-resource';
import { fieldOwnership, noFieldOwnership } from './field-ownership';

const schema = loadBuiltinSchema();

function servedVersions(definition: KindDefinition): ReadonlyMap<string, ServedResource> {
  return new Map(
    definition.versions.map((version) => {
      const apiVersion = apiVersionOf(version.group, version.version);
      const type = schema.kind(version.group, version.version, definition.kind);
      if (type === undefined) throw new Error(`no type for ${apiVersion} ${definition.kind}`);
      const listKind = `${definition.kind}List`;
      return [apiVersion, { definition, version, registry: undefined, type, listKind, custom: false }];
    }),
  );
}

/** Writes to one object of a kind, each in a version and by a manager of its own. `off`: a version that is switched off. */
function writesTo(definition: KindDefinition, off?: string) {
  const versions = servedVersions(definition);
  const catalogue: Catalogue = {
    schema,
    resolve: (group, version) => {
      const apiVersion = apiVersionOf(group, version);
      return apiVersion === off ? undefined : versions.get(apiVersion);
    },
    hasBuiltInGroup: () => true,
  };
  const ownership = fieldOwnership(catalogue, () => Date.UTC(2026, 0, 2));
  let stored: KubeObject | undefined;
  return (apiVersion: string, manager: string, change: (live: KubeObject) => KubeObject): KubeObject => {
    const served = versions.get(apiVersion);
    if (served === undefined) throw new Error(`${apiVersion} is not served`);
    const { convert } = served.version;
    const shown = stored && { ...(convert?.fromStorage(stored) ?? stored), apiVersion, kind: definition.kind };
    const updated = change(shown ?? { apiVersion, kind: definition.kind, metadata: { name: 'x', namespace: 'n' } });
    const tracked = ownership.trackUpdate({ served, live: shown, updated, manager });
    stored = convert?.toStorage(tracked) ?? tracked;
    return tracked;
  };
}

function managersOf({ metadata: { managedFields = [] } }: KubeObject): readonly string[] {
  return managedFields.map(({ manager, apiVersion }) => `${manager} ${apiVersion}`);
}

describe('ownership of what conversion changes', () => {
  const METRICS = 'autoscaling.alpha.kubernetes.io/metrics';
  const spec = { maxReplicas: 3, scaleTargetRef: { kind: 'Deployment', name: 'd' } };
  const memory = JSON.stringify([{ type: 'Resource', resource: { name: 'memory', targetAverageUtilization: 50 } }]);
  const withAnnotations =
    (annotations: Readonly<Record<string, string>>) =>
    (live: KubeObject): KubeObject => ({ ...live, metadata: { ...live.metadata, annotations }, spec });

  it.each([
    ['that says nothing is nobody’s', '[]', {}],
    ['that is no JSON is nobody’s', 'junk', {}],
    ['that stands for metrics has an owner', memory, { [`f:${METRICS}`]: {} }],
  ])('an annotation of autoscalers of v1 %s', (_case, value, owned) => {
    const write = writesTo(horizontalPodAutoscaler);
    const tracked = write('autoscaling/v1', 'm', withAnnotations({ [METRICS]: value, other: '1' }));
    expect(tracked.metadata.managedFields?.[0]?.fieldsV1).toMatchObject({
      'f:metadata': { 'f:annotations': { '.': {}, 'f:other': {}, ...owned } },
    });
    expect(JSON.stringify(tracked.metadata.managedFields).includes(METRICS)).toBe(Object.keys(owned).length > 0);
    // What was sent is for validation to see as it is.
    expect(tracked.metadata.annotations).toEqual({ [METRICS]: value, other: '1' });
  });
});

describe('versions that are switched off', () => {
  const labelled = (live: KubeObject) => ({ ...live, metadata: { ...live.metadata, labels: { a: 'b' } } });

  it('do not make the server forget who wrote in them', () => {
    const write = writesTo(runtimeClass, 'node.k8s.io/v1alpha1');
    write('node.k8s.io/v1alpha1', 'first', (live) => ({ ...live, spec: { runtimeHandler: 'h' } }));
    expect(managersOf(write('node.k8s.io/v1', 'second', labelled))).toEqual([
      'first node.k8s.io/v1alpha1',
      'second node.k8s.io/v1',
    ]);
  });
});

describe('entries that a client sends, of a version that', () => {
  const entry = (apiVersion: string) =>
    ({ manager: 'sent', operation: 'Update', apiVersion, fieldsV1: { 'f:spec': { 'f:absent': {} } } }) as const;
  const sending = (apiVersion: string) => (live: KubeObject) => ({
    ...live,
    metadata: { ...live.metadata, managedFields: [entry(apiVersion)] },
    spec: { replicas: 1 },
  });

  it.each([
    ['its kind never had are dropped', 'v1', false],
    ['nobody knows are dropped', 'example.com/v7', false],
    ['is empty are dropped', '', false],
    ['its kind has are kept', 'apps/v1', true],
    ['its kind had once are kept', 'extensions/v1beta1', true],
  ])('%s', (_case, apiVersion, kept) => {
    const tracked = writesTo(deployment)('apps/v1', 'creator', sending(apiVersion));
    expect(managersOf(tracked)).toEqual([...(kept ? [`sent ${apiVersion}`] : []), 'creator apps/v1']);
  });
});

describe('the core group and the others', () => {
  const noted = (note: string) => (live: KubeObject) => ({ ...live, note });
  const said = (message: string) => (live: KubeObject) => ({ ...live, message });
  const reason = (live: KubeObject) => ({ ...live, reason: 'r' });

  it('forget who wrote in the other: an event of core/v1 that is changed in events.k8s.io', () => {
    const write = writesTo(event);
    expect(managersOf(write('v1', 'core', said('a')))).toEqual(['core v1']);
    expect(managersOf(write('events.k8s.io/v1', 'grouped', reason))).toEqual(['grouped events.k8s.io/v1']);
  });

  it('forget who wrote in the other: an event of events.k8s.io that is changed in core/v1', () => {
    const write = writesTo(event);
    expect(managersOf(write('events.k8s.io/v1', 'grouped', noted('a')))).toEqual(['grouped events.k8s.io/v1']);
    expect(managersOf(write('v1', 'core', reason))).toEqual(['core v1']);
  });

  it('forget who wrote in the other with a write that changes nothing, too', () => {
    const write = writesTo(event);
    write('v1', 'core', said('a'));
    expect(managersOf(write('events.k8s.io/v1', 'grouped', (live) => live))).toEqual([]);
  });

  it('remember who wrote in another version of the same group', () => {
    const write = writesTo(event);
    write('events.k8s.io/v1beta1', 'old', noted('a'));
    expect(managersOf(write('events.k8s.io/v1', 'new', reason))).toEqual([
      'new events.k8s.io/v1',
      'old events.k8s.io/v1beta1',
    ]);
  });
});

describe('without server-side apply', () => {
  const served = {} as ServedResource;

  it('nobody owns what is written, whatever clients send', () => {
    const updated: KubeObject = { metadata: { name: 'a', managedFields: [{ manager: 'm' }] } };
    const tracked = noFieldOwnership.trackUpdate({ served, live: undefined, updated, manager: 'm' });
    expect(tracked).toEqual({ metadata: { name: 'a' } });
    expect(noFieldOwnership.trackUpdate({ served, live: tracked, updated: tracked, manager: 'm' })).toBe(tracked);
  });

  it('nothing can be applied', () => {
    expect(noFieldOwnership.apply).toBeUndefined();
  });
});
