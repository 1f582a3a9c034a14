import { ageColumn, column, nameColumn, tableOf } from '../../table/table';
import { validatePolicyBinding } from '../../validation/admission-policy';
import { defineKind } from '../define-kind';
import { stringAt } from '../field-values';
import { policyVersions } from './policy-versions';

export const validatingAdmissionPolicyBinding = defineKind({
  group: 'admissionregistration.k8s.io',
  kind: 'ValidatingAdmissionPolicyBinding',
  resource: 'validatingadmissionpolicybindings',
  singular: 'validatingadmissionpolicybinding',
  categories: ['api-extensions'],
  namespaced: false,
  versions: policyVersions('ValidatingAdmissionPolicyBinding'),
  strategy: { validateCreate: validatePolicyBinding, validateUpdate: validatePolicyBinding },
  tracksGeneration: true,
  allowUnconditionalUpdate: false,
  table: tableOf([
    nameColumn,
    column('PolicyName', 'The policy that is bound.', (object) => stringAt(object, 'spec', 'policyName') ?? ''),
    column('ParamRef', 'The object with the parameters.', (object) => {
      const name = stringAt(object, 'spec', 'paramRef', 'name') ?? '';
      const namespace = stringAt(object, 'spec', 'paramRef', 'namespace') ?? '';
      if (name === '') return '<unset>';
      return namespace === '' ? name : `${namespace}/${name}`;
    }),
    ageColumn,
  ]),
});
