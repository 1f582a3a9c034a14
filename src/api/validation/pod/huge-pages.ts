import type { FieldError } from '../../errors/field-error';
import type { EnvVar, PodSpec, ResourceFieldSelector } from '../../schema/generated/core-v1';
import { invalidLiteral } from '../go-literal';
import { isHugePageField, unsupportedResourceField } from './field-references';
import { isHugePageResource } from './resource-names';

/** What a server refuses that lacks the gates of huge pages. */

type Reference = readonly [path: string, selector: ResourceFieldSelector];

function ofVariables(variables: readonly EnvVar[] | undefined, path: string): readonly Reference[] {
  return (variables ?? []).flatMap(({ valueFrom }, index) =>
    valueFrom?.resourceFieldRef === undefined
      ? []
      : [[`${path}[${index}].valueFrom.resourceFieldRef`, valueFrom.resourceFieldRef] as const],
  );
}

function ofFiles(
  volume: { readonly items?: readonly { readonly resourceFieldRef?: ResourceFieldSelector }[] } | undefined,
  path: string,
): readonly Reference[] {
  return (volume?.items ?? []).flatMap(({ resourceFieldRef }, index) =>
    resourceFieldRef === undefined ? [] : [[`${path}.items[${index}].resourceFieldRef`, resourceFieldRef] as const],
  );
}

/** Every reference to a resource in the specification at `path` (downward API). */
function resourceReferences(spec: PodSpec, path: string): readonly Reference[] {
  return [
    ...(spec.volumes ?? []).flatMap(({ downwardAPI, projected }, index) => [
      ...ofFiles(downwardAPI, `${path}.volumes[${index}].downwardAPI`),
      ...(projected?.sources ?? []).flatMap((source, position) =>
        ofFiles(source.downwardAPI, `${path}.volumes[${index}].projected.sources[${position}].downwardAPI`),
      ),
    ]),
    ...(['containers', 'initContainers', 'ephemeralContainers'] as const).flatMap((list) =>
      (spec[list] ?? []).flatMap(({ env }, index) => ofVariables(env, `${path}.${list}[${index}].env`)),
    ),
  ];
}

/** Without the gate DownwardAPIHugePages: references to huge pages. */
export function validateNoHugePageReferences(spec: PodSpec, path: string): readonly FieldError[] {
  return resourceReferences(spec, path).flatMap(([field, { resource = '' }]) =>
    isHugePageField(resource) ? [unsupportedResourceField(resource, field)] : [],
  );
}

/** Without the gate HugePageStorageMediumSize: pages of more than one size. */
export function validateSinglePageSize(spec: PodSpec, path: string): readonly FieldError[] {
  const names = (spec.containers ?? []).flatMap(({ resources }) => [
    ...Object.keys(resources?.limits ?? {}),
    ...Object.keys(resources?.requests ?? {}),
  ]);
  const sizes = [...new Set(names.filter(isHugePageResource))].sort();
  if (sizes.length <= 1) return [];
  const literal = `sets.String{${sizes.map((size) => `${JSON.stringify(size)}:sets.Empty{}`).join(', ')}}`;
  return [invalidLiteral(path, literal, 'must use a single hugepage size in a pod spec')];
}
