import { apply, trackUpdate } from '../../src/api/apply/field-manager';
import { decodeObject } from '../../src/api/codec/json-decode';
import { decodeMessage } from '../../src/api/codec/protobuf-decode';
import { encodeMessage } from '../../src/api/codec/protobuf-encode';
import { invalidObject, StatusError } from '../../src/api/errors/status-error';
import type { FieldError } from '../../src/api/errors/field-error';
import { CATALOGUE } from '../../src/api/kinds/catalogue';
import type { KindDefinition, ServedVersion, Strategy } from '../../src/api/kinds/kind-definition';
import { apiVersionOf, type JsonObject, type KubeObject } from '../../src/api/object';
import { atOnce } from '../../src/api/parts';
import { applyMergePatch } from '../../src/api/patch/merge-patch';
import { applyStrategicMergePatch } from '../../src/api/patch/strategic-merge';
import { loadBuiltinSchema } from '../../src/api/schema/builtin-schema';
import type { StructType } from '../../src/api/schema/model';
import { validateObjectMeta, validateObjectMetaUpdate } from '../../src/api/validation/object-meta';
import { withoutDuplicateOwners } from '../../src/http/endpoints/owner-references';
import { FIRST, grownObject, placesOf, type Growth, type Place } from './grown-objects';
import type { Subject } from './subject';

const NOW = '2026-01-02T03:04:05Z';

/** Each struct of each version of each built-in kind, once, on its way through all that a write may do. */
export function subjectsOfKinds(): readonly Subject[] {
  const schema = loadBuiltinSchema();
  const seen = new Set<string>();
  return CATALOGUE.flatMap((definition) =>
    definition.versions.flatMap((version) => {
      const type = schema.kind(version.group, version.version, definition.kind);
      if (type === undefined) return [];
      const kind = new WrittenKind(definition, version, type);
      return placesOf(type, seen).flatMap((place, index) => {
        const growths: readonly Growth[] = index === 0 ? ['distinct', 'alike', 'texts'] : ['distinct', 'alike'];
        return growths.map((growth) => subjectOf(kind, place, growth));
      });
    }),
  );
}

function subjectOf(kind: WrittenKind, place: Place, growth: Growth): Subject {
  const way = place.fields.map(({ name }) => `.${name}`).join('');
  return {
    name: `${kind.name}${way} (${growth})`,
    prepare: (count) => {
      const sent = grownObject(kind.type, place, { growth, count, from: FIRST });
      const changed = grownObject(kind.type, place, { growth, count, from: FIRST + count / 2 });
      return () => kind.write(sent, changed);
    },
  };
}

/** What a client may be told; anything else is a fault. */
function tolerated(run: () => void): void {
  try {
    run();
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    JSON.stringify(error.status);
  }
}

class WrittenKind {
  constructor(
    private readonly definition: KindDefinition,
    private readonly version: ServedVersion,
    readonly type: StructType,
  ) {}

  get name(): string {
    return `${apiVersionOf(this.version.group, this.version.version)} ${this.definition.kind}`;
  }

  /** A create, an update and every patch. */
  write(sent: JsonObject, changed: JsonObject): void {
    const before = this.decoded(sent);
    const after = this.decoded(changed);
    if (before === undefined || after === undefined) return;
    this.own(before, after, changed);
    this.patch(before, changed);
    for (const { strategy } of [this.definition, ...this.definition.subresources]) {
      if (strategy !== undefined) this.check(strategy, this.stored(before), this.stored(after));
    }
    this.respond(before);
  }

  private decoded(body: JsonObject): KubeObject | undefined {
    let object: KubeObject | undefined;
    tolerated(() => {
      const { version } = this.version;
      const options = { applyDefaults: true, collectUnknown: true, kind: this.definition.kind, version };
      const decoded = decodeObject(this.type, { metadata: {}, ...body }, options).object;
      const typed = { ...decoded, kind: this.definition.kind, apiVersion: apiVersionOf(this.version.group, version) };
      const defaulted = this.definition.applyDefaults?.(typed, version) ?? typed;
      object = withoutDuplicateOwners(defaulted, 'sent', {
        warn: () => undefined,
        givesWay: false,
        takeSteps: (steps) => Promise.resolve(atOnce(steps)),
      }) as KubeObject;
    });
    return object;
  }

  private stored(object: KubeObject): KubeObject {
    return this.version.convert?.toStorage(object) ?? object;
  }

  private own(before: KubeObject, after: KubeObject, configuration: JsonObject): void {
    const { group, version } = this.version;
    const gvk = { group, version, kind: this.definition.kind };
    const options = { type: this.type, gvk, now: NOW };
    tolerated(() => {
      const created = trackUpdate({ ...options, manager: 'creator', live: undefined, object: before });
      trackUpdate({ ...options, manager: 'updater', live: created, object: after });
      const { managedFields: _, ...metadata } = (configuration['metadata'] ?? {}) as Record<string, never>;
      const applied = { ...configuration, kind: gvk.kind, apiVersion: apiVersionOf(group, version), metadata };
      tolerated(() => apply({ ...options, manager: 'applier', live: created, applied, force: false }));
      tolerated(() => {
        const { object } = apply({ ...options, manager: 'applier', live: created, applied, force: true });
        apply({ ...options, manager: 'applier', live: object, applied: { ...applied, metadata: {} }, force: true });
      });
    });
  }

  private patch(before: KubeObject, changed: JsonObject): void {
    const document = before as unknown as JsonObject;
    tolerated(() => applyStrategicMergePatch(this.type, document, changed));
    tolerated(() => applyMergePatch(document, changed));
  }

  private check(strategy: Strategy, before: KubeObject, after: KubeObject): void {
    const { namespaced, validateName, unqualifiedFinalizers = false } = this.definition;
    const rules = { namespaced, validateName, unqualifiedFinalizers };
    const request = { requested: this.version, now: NOW, user: { name: 'admin', groups: ['g'] } };
    const refuse = (errors: readonly FieldError[]): void => {
      if (errors.length > 0) throw invalidObject({ group: '', kind: this.definition.kind }, 'name', errors);
    };
    tolerated(() => {
      const created = strategy.prepareForCreate?.(before, request) ?? before;
      refuse([
        ...validateObjectMeta(created.metadata, rules),
        ...(strategy.validateCreate?.(created, this.version) ?? []),
      ]);
    });
    tolerated(() => {
      const updated = strategy.prepareForUpdate?.(after, before, request) ?? after;
      refuse([
        ...validateObjectMetaUpdate(updated.metadata, before.metadata),
        ...(strategy.validateUpdate?.(updated, before, this.version) ?? []),
      ]);
    });
  }

  private respond(object: KubeObject): void {
    JSON.stringify(object);
    tolerated(() => decodeMessage(this.type, encodeMessage(this.type, object)));
    tolerated(() => this.definition.table?.cells(this.stored(object), Date.parse(NOW)));
  }
}
