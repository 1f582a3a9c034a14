import { setMaxListeners } from 'node:events';
import { whenKnown, type MaybePromise } from '../../api/maybe-promise';
import type { AdmissionAttributes, AdmissionPlugin } from '../plugin';
import { askWebhook } from './call';
import { applies } from './conditions';
import type { WebhookDependencies } from './dependencies';
import { takeTurns } from './large-work';
import { converted } from '../versions/converted';
import { decided } from './outcome';
import { seeObjects, type SeenObjects } from './seen-objects';
import { inNamespace, namespaceView, selectsObject } from './selectors';
import type { Candidate, WebhookIndex } from './webhook-index';

/** ValidatingAdmissionWebhook: all that match are asked at once; the first that refuses is quoted. */
export function validatingWebhooks(index: WebhookIndex, dependencies: WebhookDependencies): AdmissionPlugin {
  return {
    name: 'ValidatingAdmissionWebhook',
    operations: ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'],
    validate: (attributes): MaybePromise<void> => {
      const candidates = index.candidates(attributes);
      if (candidates.length === 0) return undefined;
      return whenKnown(namespaceView(attributes, dependencies.namespaceLabels), (view) => {
        const relevant = inNamespace(candidates, view).filter(({ webhook }) =>
          selectsObject(webhook, attributes, attributes.object),
        );
        return relevant.length === 0 ? undefined : askAll(relevant, attributes, dependencies);
      });
    },
  };
}

async function askAll(
  relevant: readonly Candidate[],
  attributes: AdmissionAttributes,
  dependencies: WebhookDependencies,
): Promise<void> {
  const { versions, callBackend, evaluateConditions } = dependencies;
  const called: Candidate[] = [];
  for (const candidate of relevant) {
    if (await applies(candidate, attributes, evaluateConditions)) called.push(candidate);
  }
  const seen = new Map<string, MaybePromise<SeenObjects>>();
  const see = ({ seenAs }: Candidate): MaybePromise<SeenObjects> => {
    const { group, version, kind } = seenAs.kind;
    const key = `${group}/${version}/${kind}`;
    let objects = seen.get(key);
    if (objects === undefined) {
      const { object, oldObject } = attributes;
      objects = converted(() =>
        takeTurns(attributes, seeObjects(attributes, object, seenAs, versions), object, oldObject),
      );
      seen.set(key, objects);
    }
    return objects;
  };
  // Each call listens; Node 20 takes more than ten for a leak.
  if (called.length > 1) setMaxListeners(0, attributes.signal());
  const refusals: unknown[] = [];
  await Promise.all(
    called.map((candidate) =>
      decided(candidate.webhook, attributes, dependencies, async () =>
        askWebhook(candidate, attributes, await see(candidate), callBackend),
      ).catch((refusal: unknown) => refusals.push(refusal)),
    ),
  );
  if (refusals.length > 0) throw refusals[0];
}
