import { nameAndCreationTable } from '../../table/table';
import { defineKind } from '../define-kind';
import { keepSpecAndMetadata, keepStatus } from '../strategies';
import { statusSubresource } from '../subresources';

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
    },
  ],
  storagePrefix: 'apiextensions.k8s.io/customresourcedefinitions',
  strategy: { prepareForUpdate: keepStatus },
  subresources: [statusSubresource({ prepareForUpdate: keepSpecAndMetadata })],
  tracksGeneration: true,
  allowUnconditionalUpdate: false,
  table: nameAndCreationTable,
});
