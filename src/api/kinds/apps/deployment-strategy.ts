import { fill } from '../../fill-later';
import { nextGeneration } from '../../next-generation';
import type { KubeObject } from '../../object';
import type { Steps } from '../../parts';
import { deepEqual } from '../../steps/generated/kinds/deep-equal';
import { specStrategy } from '../strategies';

type Generation = number | bigint;

const { prepareForUpdate } = specStrategy();

/** A deployment's annotations belong to what is wanted (its revision is one): a change of them is a new generation, too. */
export function prepareDeploymentForUpdate(object: KubeObject, old: KubeObject): KubeObject {
  const prepared = prepareForUpdate?.(object, old) ?? object;
  const metadata = { ...prepared.metadata };
  fill(countChange(metadata, object, old));
  return { ...prepared, metadata };
}

function* countChange(metadata: { generation?: Generation }, object: KubeObject, old: KubeObject): Steps<void> {
  if (yield* deepEqual(object.metadata.annotations ?? {}, old.metadata.annotations ?? {})) return;
  metadata.generation = nextGeneration(old.metadata.generation);
}
