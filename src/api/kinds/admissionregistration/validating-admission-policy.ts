import { ageColumn, column, nameColumn, tableOf } from '../../table/table';
import {
  checkPolicyExpressions,
  validateAdmissionPolicy,
  validateAdmissionPolicyUpdate,
} from '../../validation/admission-policy';
import { defineKind } from '../define-kind';
import { isPlainMap, listAt, stringAt, valueAt } from '../field-values';
import { keepSpec, specStrategy } from '../strategies';
import { statusSubresource } from '../subresources';
import { policyVersions } from './policy-versions';

export const validatingAdmissionPolicy = defineKind({
  group: 'admissionregistration.k8s.io',
  kind: 'ValidatingAdmissionPolicy',
  resource: 'validatingadmissionpolicies',
  singular: 'validatingadmissionpolicy',
  categories: ['api-extensions'],
  namespaced: false,
  versions: policyVersions('ValidatingAdmissionPolicy'),
  strategy: {
    ...specStrategy(),
    validateCreate: validateAdmissionPolicy,
    validateUpdate: validateAdmissionPolicyUpdate,
    checkRules: checkPolicyExpressions,
  },
  subresources: [statusSubresource({ prepareForUpdate: keepSpec })],
  tracksGeneration: true,
  allowUnconditionalUpdate: false,
  table: tableOf([
    nameColumn,
    column('Validations', 'How many validations there are.', (object) => listAt(object, 'spec', 'validations').length, {
      type: 'integer',
    }),
    column('ParamKind', 'The kind of the parameters.', (object) => {
      const kind = valueAt(object, 'spec', 'paramKind');
      return isPlainMap(kind) ? `${stringAt(kind, 'apiVersion')}/${stringAt(kind, 'kind')}` : '<unset>';
    }),
    ageColumn,
  ]),
});
