import { isNamespace, type AdmissionAttributes } from '../plugin';
import { isExempt } from '../rules/exempt';
import type { ObjectVersions, VersionedResource } from '../versions/object-versions';
import { matchesRule, type RuleSubject } from './rules';
import type { Webhook } from './webhook';

/** A webhook that may be called for a request, and the version in which it wants to see it. */
export interface Candidate {
  readonly webhook: Webhook;
  /** Among all webhooks of the type: annotations of the audit log tell it. */
  readonly position: number;
  readonly seenAs: VersionedResource;
}

/** Custom resources come and go: what is remembered is forgotten beyond so many. */
const MAX_REMEMBERED = 4096;
const NONE: readonly Candidate[] = [];

/**
 * The webhooks of one type. Which of them have a rule for a request depends on a handful of its properties and is remembered for
 * each: a request that no rule is about costs a lookup, however many webhooks there are.
 */
export class WebhookIndex {
  #webhooks: readonly Webhook[] | undefined = [];
  #listWebhooks: () => readonly Webhook[] = () => [];
  #remembered = new Map<string, readonly Candidate[]>();
  #generation = -1;

  constructor(private readonly versions: Pick<ObjectVersions, 'generation' | 'equivalents'>) {}

  /** There are others; `list` gives them in the order in which they are called, when that is needed. */
  changed(list: () => readonly Webhook[]): void {
    this.#listWebhooks = list;
    this.#webhooks = undefined;
    this.#remembered.clear();
  }

  candidates(attributes: AdmissionAttributes): readonly Candidate[] {
    const webhooks = (this.#webhooks ??= this.#listWebhooks());
    if (webhooks.length === 0 || isExempt(attributes)) return NONE;
    const generation = this.versions.generation();
    if (generation !== this.#generation || this.#remembered.size >= MAX_REMEMBERED) this.#remembered.clear();
    this.#generation = generation;
    const { operation, group, version, resource, subresource, namespace, kind } = attributes;
    const namespaced = namespace !== '' && !isNamespace(attributes);
    // Subresources may be sent in several kinds.
    const key = `${operation} ${group}/${version}/${resource}/${subresource} ${kind.kind} ${namespaced}`;
    let found = this.#remembered.get(key);
    if (found === undefined) {
      const asRequested = { group, version, resource, subresource, kind };
      found = this.#find(webhooks, asRequested, { operation, group, version, resource, subresource, namespaced });
      this.#remembered.set(key, found);
    }
    return found;
  }

  #find(webhooks: readonly Webhook[], asRequested: VersionedResource, subject: RuleSubject): readonly Candidate[] {
    const equivalents = this.versions.equivalents(asRequested);
    return webhooks.flatMap((webhook, position) => {
      const seenAs = match(webhook, subject, asRequested, equivalents);
      return seenAs === undefined ? [] : [{ webhook, position, seenAs }];
    });
  }
}

/** The request as it is counts first; then the webhook's rules in their order, each with what is equivalent. */
function match(
  { rules, matchesEquivalents }: Webhook,
  subject: RuleSubject,
  asRequested: VersionedResource,
  equivalents: readonly VersionedResource[],
): VersionedResource | undefined {
  if (rules.some((rule) => matchesRule(rule, subject))) return asRequested;
  if (!matchesEquivalents) return undefined;
  for (const rule of rules) {
    for (const other of equivalents) {
      const { group, version, resource } = other;
      if (matchesRule(rule, { ...subject, group, version, resource })) return other;
    }
  }
  return undefined;
}
