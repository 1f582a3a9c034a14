import type { FieldError } from '../../errors/field-error';
import type { Container, EphemeralContainer, PodSpec, ResourceFieldSelector } from '../../schema/generated/core-v1';
import { checkEach } from '../check-each';
import { invalidLiteral } from '../go-literal';
import { isHugePageField, unsupportedResourceField } from './field-references';
import { isHugePageResource } from './resource-names';

/** What a server refuses that lacks the gates of huge pages. */

/** What is wrong with the reference at a path; paths are put together only for references. */
function validateReference(selector: ResourceFieldSelector | undefined, path: () => string): readonly FieldError[] {
  const resource = selector?.resource ?? '';
  return isHugePageField(resource) ? [unsupportedResourceField(resource, path())] : [];
}

interface Files {
  readonly items?: readonly { readonly resourceFieldRef?: ResourceFieldSelector }[] | null;
}

function validateFiles(volume: Files | undefined, path: () => string): readonly FieldError[] {
  return checkEach(volume?.items, ({ resourceFieldRef }, index) =>
    validateReference(resourceFieldRef, () => `${path()}.items[${index}].resourceFieldRef`),
  );
}

/** Without the gate DownwardAPIHugePages: references to huge pages (downward API) in the specification at `path`. */
export function validateNoHugePageReferences(spec: PodSpec, path: string): readonly FieldError[] {
  return [
    ...checkEach(spec.volumes, ({ downwardAPI, projected }, index) => {
      const volumePath = (): string => `${path}.volumes[${index}]`;
      return [
        ...validateFiles(downwardAPI, () => `${volumePath()}.downwardAPI`),
        ...checkEach(projected?.sources, (source, position) =>
          validateFiles(source.downwardAPI, () => `${volumePath()}.projected.sources[${position}].downwardAPI`),
        ),
      ];
    }),
    ...(['containers', 'initContainers', 'ephemeralContainers'] as const).flatMap((list) =>
      checkEach<Container | EphemeralContainer>(spec[list], ({ env }, index) =>
        checkEach(env, ({ valueFrom }, position) =>
          validateReference(
            valueFrom?.resourceFieldRef,
            () => `${path}.${list}[${index}].env[${position}].valueFrom.resourceFieldRef`,
          ),
        ),
      ),
    ),
  ];
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
