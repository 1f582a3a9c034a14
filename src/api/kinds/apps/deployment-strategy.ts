import { nextGeneration } from '../../next-generation';
import type { KubeObject } from '../../object';
import { deepEqual } from '../deep-equal';
import { specStrategy } from '../strategies';

const { prepareForUpdate } = specStrategy();

/** A deployment's annotations belong to what is wanted (its revision is one): a change of them is a new generation, too. */
export function prepareDeploymentForUpdate(object: KubeObject, old: KubeObject): KubeObject {
  const prepared = prepareForUpdate?.(object, old) ?? object;
  if (deepEqual(object.metadata.annotations ?? {}, old.metadata.annotations ?? {})) return prepared;
  const generation = nextGeneration(old.metadata.generation);
  return { ...prepared, metadata: { ...prepared.metadata, generation } };
}
