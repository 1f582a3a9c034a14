import { invalid, required, type FieldError } from '../errors/field-error';
import type { JSONSchemaProps } from '../schema/generated/apiextensions-v1';
import { checkNow } from '../validation/check-each';
import { validateStructure } from '../validation/structural-schema';
import type { CustomResourceDefinition } from './custom-resource-definition';

/**
 * What a definition that preserves unknown fields has to mend before it may stop doing so; undefined: nothing. All others are
 * validated to be structural.
 */
export function structuralViolations({ spec }: CustomResourceDefinition): string | undefined {
  if (spec.preserveUnknownFields !== true) return undefined;
  const errors = [
    invalid('spec.preserveUnknownFields', true, 'must be false'),
    ...spec.versions.flatMap(({ schema }, index): readonly FieldError[] => {
      const path = `spec.versions[${index}].schema.openAPIV3Schema`;
      const root = schema?.openAPIV3Schema;
      if (root === undefined) return [required(path, 'schemas are required')];
      return checkNow(() => validateStructure(root as JSONSchemaProps, path));
    }),
  ];
  const texts = [...new Set(errors.map(({ field, message }) => `${field}: ${message}`))];
  return texts.length === 1 ? texts.join() : `[${texts.join(', ')}]`;
}
