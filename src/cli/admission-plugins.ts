import { randomInt } from 'node:crypto';
import { admissionChain } from '../admission/chain';
import { defaultIngressClass, defaultStorageClass } from '../admission/default-class';
import { defaultTolerationSeconds } from '../admission/default-toleration-seconds';
import { namespaceLifecycle } from '../admission/namespace-lifecycle';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission/plugin';
import { priorityAdmission } from '../admission/priority';
import { serviceAccountAdmission } from '../admission/service-account';
import { storageObjectInUseProtection } from '../admission/storage-object-in-use-protection';
import { taintNodesByCondition } from '../admission/taint-nodes-by-condition';
import type { Admission, AdmissionRequest } from '../http/dependencies';
import type { RegistryReader } from './registry-reader';

const SUFFIX_ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';

function randomSuffix(): string {
  return Array.from({ length: 5 }, () => SUFFIX_ALPHABET[randomInt(SUFFIX_ALPHABET.length)]).join('');
}

/** The plugins that are on, in kube-apiserver's order. */
export function admissionPlugins(reader: RegistryReader): readonly AdmissionPlugin[] {
  return [
    namespaceLifecycle((name) => reader.getLive('namespaces', name)),
    serviceAccountAdmission({
      getServiceAccount: (namespace, name) => reader.getLive('serviceaccounts', namespace, name),
      randomSuffix,
    }),
    taintNodesByCondition,
    priorityAdmission({
      get: (name) => reader.get('priorityclasses', name),
      list: () => reader.list('priorityclasses'),
    }),
    defaultTolerationSeconds({ notReady: 300, unreachable: 300 }),
    defaultStorageClass(() => reader.list('storageclasses')),
    storageObjectInUseProtection,
    defaultIngressClass(() => reader.list('ingressclasses')),
  ];
}

function attributesOf(request: AdmissionRequest): AdmissionAttributes {
  const { resource, kind, served: _served, ...rest } = request;
  return { ...rest, ...resource, kind: kind.kind };
}

/** The chain as the endpoints call it. */
export function admission(plugins: readonly AdmissionPlugin[]): Admission {
  const chain = admissionChain(plugins);
  return {
    mutate: (request) => chain.mutate(attributesOf(request)),
    validate: (request) => chain.validate(attributesOf(request)),
  };
}
