import { invalid, required, type FieldError } from '../errors/field-error';
import { atOnce, type Steps } from '../parts';
import type { JSONSchemaProps } from '../schema/generated/apiextensions-v1';
import { checkInParts } from '../validation/check-each';
import { validateStructure } from '../validation/structural-schema';
import type { CustomResourceDefinition } from './custom-resource-definition';

type Spec = CustomResourceDefinition['spec'];

/** Of definitions that have been looked at. */
const known = new WeakMap<Spec, string>();

/**
 * What a definition that preserves unknown fields has to mend before it may stop doing so; undefined: nothing. All others are
 * validated to be structural.
 */
export function structuralViolations({ spec }: CustomResourceDefinition): string | undefined {
  if (spec.preserveUnknownFields !== true) return undefined;
  return known.get(spec) ?? atOnce(violationsOf(spec));
}

/** Looks for them a part at a time: to ask for them takes nothing then. */
export function* prepareStructuralViolations({ spec }: CustomResourceDefinition): Steps<void> {
  if (spec.preserveUnknownFields === true && !known.has(spec)) yield* violationsOf(spec);
}

function* violationsOf(spec: Spec): Steps<string> {
  const errors = yield* checkInParts(() => [
    invalid('spec.preserveUnknownFields', true, 'must be false'),
    ...spec.versions.flatMap(({ schema }, index): readonly FieldError[] => {
      const path = `spec.versions[${index}].schema.openAPIV3Schema`;
      const root = schema?.openAPIV3Schema;
      if (root === undefined) return [required(path, 'schemas are required')];
      return validateStructure(root as JSONSchemaProps, path);
    }),
  ]);
  const texts = [...new Set(errors.map(({ field, message }) => `${field}: ${message}`))];
  const text = texts.length === 1 ? texts.join() : `[${texts.join(', ')}]`;
  known.set(spec, text);
  return text;
}
