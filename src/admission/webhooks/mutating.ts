import { DecodeError } from '../../api/codec/json-decode';
import { internalError, StatusError } from '../../api/errors/status-error';
import { whenKnown, type MaybePromise } from '../../api/maybe-promise';
import type { JsonObject, KubeObject } from '../../api/object';
import type { Steps } from '../../api/parts';
import { ConversionNeeded } from '../../api/conversion-needed';
import { jsonEqual } from '../../api/patch/json-equal';
import { jsonEqual as equalInSteps } from '../../api/steps/generated/patch/json-equal';
import { quoteGo } from '../../api/errors/go-quote';
import { isNamespace, type AdmissionAttributes, type AdmissionPlugin } from '../plugin';
import { askWebhook } from './call';
import { applies } from './conditions';
import type { WebhookDependencies } from './dependencies';
import { WebhookFailure } from './failures';
import { takeTurns } from './large-work';
import { mutationAnnotation, patchAnnotation, type AnnotatedCall } from './mutation-annotations';
import { converted } from '../versions/converted';
import { decided } from './outcome';
import { patchedDocument, readPatch } from './patch';
import { seeObjects, type SeenObjects } from './seen-objects';
import { inNamespace, namespaceView, selectsObject } from './selectors';
import type { Candidate, WebhookIndex } from './webhook-index';

/** MutatingAdmissionWebhook: one after another, each sees what those before it have made of the object. */
export function mutatingWebhooks(index: WebhookIndex, dependencies: WebhookDependencies): AdmissionPlugin {
  const mutate = (attributes: AdmissionAttributes): MaybePromise<KubeObject | undefined> => {
    const { object } = attributes;
    const candidates = index.candidates(attributes);
    if (candidates.length === 0) return object;
    return whenKnown(namespaceView(attributes, dependencies.namespaceLabels), (view) => {
      const selected = inNamespace(candidates, view);
      if (!selected.some(({ webhook }) => selectsObject(webhook, attributes, object))) return object;
      // A namespace that is being written carries the labels that the selectors look at.
      const asked = isNamespace(attributes) ? candidates : selected;
      return new MutatingRound(attributes, dependencies).callAll(asked);
    });
  };
  return {
    name: 'MutatingAdmissionWebhook',
    operations: ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'],
    mutate: (attributes) => whenKnown(mutate(attributes), (object) => object ?? attributes.object),
    check: (attributes) => whenKnown(mutate(attributes), () => undefined),
  };
}

/** The webhooks' turn in one round of a write. */
class MutatingRound {
  private object: KubeObject | undefined;
  private seen: { readonly by: Candidate['seenAs']; readonly objects: SeenObjects } | undefined;
  /**
   * kube-apiserver keeps times of owners that it has just set to the nanosecond, and texts of objects have whole seconds: it takes the
   * first patch of such a write for a change, whatever it does. Only its annotation says so here.
   */
  private hasFreshOwners: boolean;

  constructor(
    private readonly attributes: AdmissionAttributes,
    private readonly dependencies: WebhookDependencies,
  ) {
    this.object = attributes.object;
    this.hasFreshOwners = attributes.reinvocation.round === 0 && hasNewOwners(attributes);
  }

  async callAll(candidates: readonly Candidate[]): Promise<KubeObject | undefined> {
    const { attributes, dependencies } = this;
    const { reinvocation } = attributes;
    // In between, plugins of the server have changed it again.
    if (reinvocation.round > 0 && !jsonEqual(reinvocation.output, this.object)) reinvocation.changed();
    for (const candidate of candidates) {
      const { webhook } = candidate;
      if (!(await this.concerns(candidate))) continue;
      if (reinvocation.round > 0 && !reinvocation.isCalledAgain(webhook.key)) continue;
      const changed = await decided(webhook, attributes, dependencies, () => this.call(candidate));
      if (changed === true) {
        reinvocation.changed();
        reinvocation.isWanted = true;
      }
      if (webhook.isReinvocable) reinvocation.called(webhook.key);
    }
    reinvocation.output = this.object;
    return this.object;
  }

  /** The object as it has become by now decides. */
  private async concerns(candidate: Candidate): Promise<boolean> {
    const { webhook } = candidate;
    const attributes = { ...this.attributes, object: this.object };
    if (!selectsObject(webhook, attributes, this.object)) return false;
    if (isNamespace(attributes)) {
      const view = await namespaceView(attributes, this.dependencies.namespaceLabels);
      if (inNamespace([candidate], view).length === 0) return false;
    }
    return applies(candidate, attributes, this.dependencies.evaluateConditions);
  }

  /** Whether the object is another one afterwards. */
  private async call(candidate: Candidate): Promise<boolean> {
    const { attributes } = this;
    const { webhook, position } = candidate;
    const called: AnnotatedCall = { webhook, round: attributes.reinvocation.round, position };
    let mutated = false;
    try {
      const seen = await this.see(candidate);
      const { patch, patchType } = await askWebhook(candidate, attributes, seen, this.dependencies.callBackend);
      const operations = await takeTurns(attributes, readPatch(patch), patch);
      if (operations.length === 0) return false;
      if (patchType !== 'JSONPatch') {
        throw new WebhookFailure(webhook.name, `unsupported patch type ${quoteGo(patchType)}`);
      }
      const patching = (): MaybePromise<boolean> =>
        takeTurns(attributes, this.patch(candidate, seen, patch, operations), seen.plain, patch);
      let changed: boolean;
      try {
        changed = await converted(patching);
      } catch (error) {
        // A custom resource says itself what it is: it has been patched, and is refused for what it has become.
        mutated = isInvalidObject(error);
        if (mutated) patchAnnotation(attributes, called, patch);
        throw error;
      }
      mutated = changed || this.hasFreshOwners;
      this.hasFreshOwners = false;
      patchAnnotation(attributes, called, patch);
      return changed;
    } finally {
      mutationAnnotation(attributes, called, mutated);
    }
  }

  /** Whether the object is another one afterwards. */
  private *patch(
    { webhook, seenAs }: Candidate,
    seen: SeenObjects,
    patch: Buffer,
    operations: readonly JsonObject[],
  ): Steps<boolean> {
    const { plain: object, object: text } = seen;
    if (object === undefined) {
      throw internalError(
        `admission webhook ${quoteGo(webhook.name)} attempted to modify the object, which is not supported for this operation`,
      );
    }
    const document = yield* patchedDocument({ object, operations, bytes: text.length + patch.length });
    const { versions } = this.dependencies;
    try {
      this.object = yield* versions.fromVersion(document, seenAs, this.attributes);
    } catch (error) {
      if (error instanceof ConversionNeeded) throw error;
      if (error instanceof StatusError && !(error instanceof DecodeError)) throw error;
      throw internalError((error as Error).message);
    }
    this.seen = undefined;
    const after = versions.toVersion(this.object, seenAs, this.attributes);
    return !(yield* equalInSteps(object, after));
  }

  /** In the version that the webhook wants; printed once for all webhooks that see the same. */
  private async see({ seenAs }: Candidate): Promise<SeenObjects> {
    if (this.seen?.by.kind !== seenAs.kind) {
      const { attributes, object } = this;
      const { versions } = this.dependencies;
      const see = (): MaybePromise<SeenObjects> =>
        takeTurns(attributes, seeObjects(attributes, object, seenAs, versions), object, attributes.oldObject);
      this.seen = { by: seenAs, objects: await converted(see) };
    }
    return this.seen.objects;
  }
}

const INVALID = 422;

function isInvalidObject(error: unknown): boolean {
  return error instanceof StatusError && !(error instanceof DecodeError) && error.status.code === INVALID;
}

/** Whether the write has set whom a field belongs to: entries that stay are the same objects. */
function hasNewOwners({ object, oldObject }: AdmissionAttributes): boolean {
  const before = oldObject?.metadata.managedFields ?? [];
  return (object?.metadata.managedFields ?? []).some((entry) => !before.includes(entry));
}
