import type { KubeObject } from '../api/object';
import type { AdmissionAttributes, AdmissionPlugin } from './plugin';

/** The plugins in order, as the two steps that a write takes. */
export interface AdmissionChain {
  readonly mutate: (attributes: AdmissionAttributes) => Promise<KubeObject | undefined>;
  readonly validate: (attributes: AdmissionAttributes) => Promise<void>;
}

/** Joins plugins; the first refusal ends the request. */
export function admissionChain(plugins: readonly AdmissionPlugin[]): AdmissionChain {
  return {
    mutate: async (attributes) => {
      let { object } = attributes;
      for (const { operations, mutate } of plugins) {
        if (object === undefined || mutate === undefined || !operations.includes(attributes.operation)) continue;
        object = await mutate({ ...attributes, object });
      }
      return object;
    },
    validate: async (attributes) => {
      for (const { operations, validate } of plugins) {
        if (validate !== undefined && operations.includes(attributes.operation)) await validate(attributes);
      }
    },
  };
}
