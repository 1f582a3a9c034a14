import type { JsonSchema } from '../custom/json-schema';
import { invalid, required, tooMany, type FieldError } from '../errors/field-error';
import { deepEqual } from '../kinds/deep-equal';
import type {
  CustomResourceColumnDefinition,
  CustomResourceDefinitionVersion,
  CustomResourceSubresources,
} from '../schema/generated/apiextensions-v1';
import { dns1035LabelProblems } from './names';
import { validateCustomSchema } from './custom-schema';
import { validateSelectableFields } from './selectable-fields';
import { checkEach } from './check-each';

const COLUMN_TYPES = ['boolean', 'date', 'integer', 'number', 'string'];
const COLUMN_FORMATS = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password'];
const NOT_A_SIMPLE_PATH = 'must be a simple json path starting with .';
const MAX_WARNING_LENGTH = 256;

const VERSION_TYPE = 'apiextensions.CustomResourceDefinitionVersion';

/** One version as messages show it: the parts that versions may have in common stand elsewhere. */
export function definitionVersionLiteral(version: CustomResourceDefinitionVersion): string {
  const { name, served, storage, deprecated, deprecationWarning } = version;
  const warning = deprecationWarning === undefined ? '(*string)(nil)' : JSON.stringify(deprecationWarning);
  return (
    `${VERSION_TYPE}{Name:${JSON.stringify(name ?? '')}, Served:${served === true}, Storage:${storage === true}, ` +
    `Deprecated:${deprecated === true}, DeprecationWarning:${warning}, ` +
    'Schema:(*apiextensions.CustomResourceValidation)(nil), ' +
    'Subresources:(*apiextensions.CustomResourceSubresources)(nil), ' +
    'AdditionalPrinterColumns:[]apiextensions.CustomResourceColumnDefinition(nil)}'
  );
}

export function definitionVersionsLiteral(
  versions: readonly CustomResourceDefinitionVersion[] | null | undefined,
): string {
  if (versions === undefined || versions === null) return `[]${VERSION_TYPE}(nil)`;
  return `[]${VERSION_TYPE}{${versions.map(definitionVersionLiteral).join(', ')}}`;
}

function warningProblems(isDeprecated: boolean, warning: string): readonly string[] {
  if (!isDeprecated) return ['can only be set for deprecated versions'];
  if (warning === '') return ['must not be an empty string'];
  if (warning.length > MAX_WARNING_LENGTH) return [`must be <= ${MAX_WARNING_LENGTH} characters long`];
  const index = [...warning].findIndex((character) => /\p{C}|\p{Zl}|\p{Zp}/u.test(character));
  return index < 0
    ? []
    : [`must only contain printable UTF-8 characters; non-printable character found at index ${index}`];
}

/** What a version says of itself, besides the parts that it may have in common with others. */
export function validateVersion(version: CustomResourceDefinitionVersion, path: string): readonly FieldError[] {
  const { name = '', deprecated, deprecationWarning } = version;
  const problems = dns1035LabelProblems(name);
  return [
    ...(problems.length === 0 ? [] : [invalid(`${path}.name`, name, problems.join(','))]),
    ...(deprecationWarning === undefined || deprecationWarning === null
      ? []
      : warningProblems(deprecated === true, deprecationWarning).map((problem) =>
          invalid(`${path}.deprecationWarning`, deprecationWarning, problem),
        )),
  ];
}

/** Each is found in each object of each table: a thousand take milliseconds for every row. */
const MAX_COLUMNS = 100;

function validateColumn(column: CustomResourceColumnDefinition, path: string): readonly FieldError[] {
  const { name = '', type = '', format = '', jsonPath = '' } = column;
  const oneOfTypes = `must be one of ${COLUMN_TYPES.join(',')}`;
  return [
    ...(name === '' ? [required(`${path}.name`, '')] : []),
    ...(type === '' ? [required(`${path}.type`, oneOfTypes)] : []),
    ...(type === '' || COLUMN_TYPES.includes(type) ? [] : [invalid(`${path}.type`, type, oneOfTypes)]),
    ...(format === '' || COLUMN_FORMATS.includes(format)
      ? []
      : [invalid(`${path}.format`, format, `must be one of ${COLUMN_FORMATS.join(',')}`)]),
    ...(jsonPath === '' ? [required(`${path}.JSONPath`, '')] : []),
    ...(jsonPath === '' || jsonPath.startsWith('.') ? [] : [invalid(`${path}.JSONPath`, jsonPath, NOT_A_SIMPLE_PATH)]),
  ];
}

function validateReplicasPath(value: string, roots: readonly string[], where: string, field: string) {
  if (!value.startsWith('.')) return [invalid(field, value, NOT_A_SIMPLE_PATH)];
  return roots.some((root) => value.startsWith(root))
    ? []
    : [invalid(field, value, `should be a json path under ${where}`)];
}

function validateSubresources({ scale }: CustomResourceSubresources, path: string): readonly FieldError[] {
  if (!scale) return [];
  const { specReplicasPath: spec = '', statusReplicasPath: status = '', labelSelectorPath: selector } = scale;
  const specField = `${path}.scale.specReplicasPath`;
  const statusField = `${path}.scale.statusReplicasPath`;
  return [
    ...(spec === '' ? [required(specField, '')] : validateReplicasPath(spec, ['.spec.'], '.spec', specField)),
    ...(status === ''
      ? [required(statusField, '')]
      : validateReplicasPath(status, ['.status.'], '.status', statusField)),
    ...(selector
      ? validateReplicasPath(
          selector,
          ['.spec.', '.status.'],
          'either .spec or .status',
          `${path}.scale.labelSelectorPath`,
        )
      : []),
  ];
}

type Part = 'schema' | 'subresources' | 'additionalPrinterColumns';

/** Parts that all versions have alike are reported once, where v1beta1 keeps them. */
function eachPart<P extends Part>(
  versions: readonly CustomResourceDefinitionVersion[],
  part: P,
  commonPath: string,
  validate: (
    value: NonNullable<CustomResourceDefinitionVersion[P]>,
    path: string,
    versions: readonly CustomResourceDefinitionVersion[],
  ) => readonly FieldError[],
): readonly FieldError[] {
  const isCommon = versions.every((version) => deepEqual(version[part], versions[0]?.[part]));
  return (isCommon ? versions.slice(0, 1) : versions).flatMap((version, index) => {
    const value = version[part];
    if (value === undefined || value === null) return [];
    return validate(value, isCommon ? commonPath : `spec.versions[${index}].${part}`, isCommon ? versions : [version]);
  });
}

export function validateVersionParts(
  versions: readonly CustomResourceDefinitionVersion[],
  demands: { readonly structure: boolean; readonly noDefaults: boolean },
): readonly FieldError[] {
  return [
    ...eachPart(versions, 'schema', 'spec.validation', ({ openAPIV3Schema }, path, those) => {
      const hasStatus = those.some(({ subresources }) => Boolean(subresources?.status));
      const field = `${path}.openAPIV3Schema`;
      return openAPIV3Schema ? validateCustomSchema(openAPIV3Schema, field, { ...demands, hasStatus }) : [];
    }),
    ...eachPart(versions, 'subresources', 'spec.subresources', validateSubresources),
    ...eachPart(versions, 'additionalPrinterColumns', 'spec.additionalPrinterColumns', (columns, path) => [
      ...(columns.length > MAX_COLUMNS ? [tooMany(path, columns.length, MAX_COLUMNS)] : []),
      ...checkEach(columns, (column, index) => validateColumn(column, `${path}[${index}]`)),
    ]),
    ...versions.flatMap(({ selectableFields, schema }, index) =>
      validateSelectableFields(
        selectableFields ?? [],
        (schema?.openAPIV3Schema ?? undefined) as JsonSchema | undefined,
        `spec.versions[${index}].selectableFields`,
      ),
    ),
  ];
}
