/** What of the specification's tests expressions of the API cannot use, and why. */
export const UNSUPPORTED: readonly (readonly [because: string, path: RegExp])[] = [
  ['messages of Protobuf: objects of the API are JSON', /^\/(proto2|proto2_ext|proto3|enums|wrappers|dynamic)\//],
  [
    'messages of Protobuf: objects of the API are JSON',
    /^\/comparisons\/eq_wrapper\/|_proto[23]|\/type_deductions\/wrappers\//,
  ],
  ['messages of Protobuf: objects of the API are JSON', /^\/type_deductions\/legacy_nullable_types\//],
  ['a library that kube-apiserver does not have', /^\/(block_ext|encoders_ext|math_ext)\//],
  ['all names are those of the Kubernetes environment: there is no container of names', /^\/namespace\//],
  ['a function that the test declares, and nobody defines', /^\/type_deductions\/(functions|type_parameters)\//],
];
