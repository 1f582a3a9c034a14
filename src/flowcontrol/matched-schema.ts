import type { UserInfo } from '../api/user';
import type { SchemaConfiguration } from './configuration';
import type { FlowQueue } from './flow-queue';
import type { FlowRequest, RequestSchema } from './flow-request';
import type { FlowStats } from './flow-stats';
import { RequestMatcher, type FlowAttributes } from './matching';
import type { PriorityLevel } from './priority-level';

/** Flows whose queues are remembered. Clients make up namespaces; more than these are dealt their queues anew. */
const MAX_REMEMBERED_FLOWS = 1024;

/** A flow schema as requests meet it, with its priority level. */
export class MatchedSchema implements RequestSchema {
  readonly names: RequestSchema['names'];
  readonly #matcher: RequestMatcher;
  readonly #hands = new Map<string, readonly FlowQueue<FlowRequest>[]>();

  constructor(
    readonly configuration: SchemaConfiguration,
    readonly level: PriorityLevel,
    readonly stats: FlowStats,
  ) {
    const { uid } = configuration;
    this.names = uid === '' || level.uid === '' ? undefined : { schemaUid: uid, levelUid: level.uid };
    this.#matcher = new RequestMatcher(configuration.rules);
  }

  get name(): string {
    return this.configuration.name;
  }

  matches(attributes: FlowAttributes, user: UserInfo): boolean {
    return this.#matcher.matches(attributes, user);
  }

  flowOf({ namespace }: FlowAttributes, { name }: UserInfo): string {
    switch (this.configuration.distinguisher) {
      case 'ByUser':
        return name;
      case 'ByNamespace':
        return namespace;
      case undefined:
        return '';
    }
  }

  handOf(flow: string): readonly FlowQueue<FlowRequest>[] {
    const known = this.#hands.get(flow);
    if (known !== undefined) return known;
    if (this.#hands.size >= MAX_REMEMBERED_FLOWS) this.#hands.clear();
    const hand = this.level.deal(this.name, flow);
    this.#hands.set(flow, hand);
    return hand;
  }
}
