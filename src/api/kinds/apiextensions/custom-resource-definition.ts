import { markForCleanup } from '../../custom/definition-status';
import { nameAndCreationTable } from '../../table/table';
import { checkDefinitionRules } from '../../validation/custom-rules';
import {
  validateDefinition,
  validateDefinitionStatusUpdate,
  validateDefinitionUpdate,
} from '../../validation/custom-resource-definition';
import { defineKind } from '../define-kind';
import { statusSubresource } from '../subresources';
import { definitionFromV1, definitionToV1 } from './definition-conversion';
import {
  defaultDefinition,
  prepareDefinition,
  prepareDefinitionStatus,
  prepareDefinitionUpdate,
} from './definition-strategy';

export const customResourceDefinition = defineKind({
  group: 'apiextensions.k8s.io',
  kind: 'CustomResourceDefinition',
  resource: 'customresourcedefinitions',
  shortNames: ['crd', 'crds'],
  categories: ['api-extensions'],
  namespaced: false,
  versions: [
    'v1',
    {
      version: 'v1beta1',
      lifecycle: {
        deprecated: '1.16',
        removed: '1.22',
        replacement: 'apiextensions.k8s.io/v1 CustomResourceDefinition',
      },
      convert: { toStorage: definitionToV1, fromStorage: definitionFromV1 },
    },
  ],
  writtenVersion: 'v1beta1',
  applyDefaults: defaultDefinition,
  storagePrefix: 'apiextensions.k8s.io/customresourcedefinitions',
  strategy: {
    prepareForCreate: prepareDefinition,
    prepareForUpdate: prepareDefinitionUpdate,
    validateCreate: validateDefinition,
    validateUpdate: validateDefinitionUpdate,
    checkRules: (definition, old) => checkDefinitionRules(definition, old),
    // Patterns have to be read, defaults to be looked at by their schemas.
    validatesInParts: () => true,
  },
  subresources: [
    statusSubresource({ prepareForUpdate: prepareDefinitionStatus, validateUpdate: validateDefinitionStatusUpdate }),
  ],
  prepareForDelete: markForCleanup,
  firstDeleteIgnoresPolicy: true,
  unqualifiedFinalizers: true,
  tracksGeneration: true,
  allowUnconditionalUpdate: false,
  table: nameAndCreationTable,
});
