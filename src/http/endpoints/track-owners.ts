import { ConversionsInOrder, withConversions } from '../../api/conversion-needed';
import type { MaybePromise } from '../../api/maybe-promise';
import type { KubeObject } from '../../api/object';
import type { EndpointDependencies, ResourceRequest } from './endpoint';

/** The object that a request makes of the live one, with its fields' owners; for a large one in turns with others. */
export function trackOwners(
  { context, served }: ResourceRequest,
  { fieldOwnership }: Pick<EndpointDependencies, 'fieldOwnership'>,
  live: KubeObject | undefined,
  updated: KubeObject,
  manager: string,
): MaybePromise<KubeObject> {
  if (fieldOwnership === undefined) return updated;
  const { remote } = served.version;
  const change = {
    served,
    live,
    updated,
    manager,
    ...(remote === undefined ? {} : { conversions: new ConversionsInOrder() }),
  };
  const track = (): MaybePromise<KubeObject> =>
    context.givesWay
      ? context.takeSteps(fieldOwnership.trackUpdateInSteps(change))
      : fieldOwnership.trackUpdate(change);
  return remote === undefined ? track() : withConversions(track);
}
