import type { KubeObject, ObjectMeta } from '../../object';
import { isApparmorAnnotation } from '../../validation/pod/annotations';
import { changeFields, fieldsAt } from '../field-path';
import type { KindDefinition } from '../kind-definition';
import { POD_PATHS } from '../pod-paths';
import { withSpecStrategies } from '../strategies';

type Annotations = NonNullable<ObjectMeta['annotations']>;

function hasProfiles(object: KubeObject, path: readonly string[]): boolean {
  return (fieldsAt(object, path) as readonly Annotations[]).some((annotations) =>
    Object.keys(annotations).some(isApparmorAnnotation),
  );
}

function withoutProfiles(annotations: Annotations): Annotations | undefined {
  const others = Object.entries(annotations).filter(([key]) => !isApparmorAnnotation(key));
  return others.length === 0 ? undefined : Object.fromEntries(others);
}

/**
 * The kind on a server with `--feature-gates=AppArmor=false`: what pods and templates say of profiles is dropped without a
 * word, unless they did so before. The definition itself for kinds without pods.
 */
export function withoutApparmorProfiles(definition: KindDefinition): KindDefinition {
  const podPath = POD_PATHS[definition.kind];
  if (podPath === undefined) return definition;
  const path = [...podPath, 'metadata', 'annotations'];
  const drop = (object: KubeObject): KubeObject =>
    hasProfiles(object, path)
      ? changeFields(object, path, (annotations) => withoutProfiles(annotations as Annotations))
      : object;
  return withSpecStrategies(definition, (strategy) => {
    const { prepareForCreate = (object) => object, prepareForUpdate = (object) => object } = strategy;
    return {
      ...strategy,
      prepareForCreate: (object, request) => drop(prepareForCreate(object, request)),
      prepareForUpdate: (object, old, request) => {
        const prepared = prepareForUpdate(object, old, request);
        return hasProfiles(old, path) ? prepared : drop(prepared);
      },
    };
  });
}
