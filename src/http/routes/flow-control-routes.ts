import { dumpPriorityLevels, dumpQueues, dumpRequests } from '../../flowcontrol/dump';
import type { PriorityAndFairness } from '../../flowcontrol/priority-and-fairness';
import type { RequestContext } from '../request/context';
import { textResponse } from '../response/api-response';
import type { NonResourceRoute } from './route';

const ROOT = '/debug/api_priority_and_fairness';

/** What priority and fairness is at, as tables for people. */
export function flowControlRoutes(fairness: PriorityAndFairness): readonly NonResourceRoute[] {
  const route = (name: string, print: (context: RequestContext) => string): NonResourceRoute => ({
    path: `${ROOT}/${name}`,
    unlisted: true,
    methods: 'any',
    handler: (context) => textResponse(200, print(context)),
  });
  return [
    route('dump_priority_levels', () => dumpPriorityLevels(fairness)),
    route('dump_queues', () => dumpQueues(fairness)),
    route('dump_requests', ({ info }) => dumpRequests(fairness, info.query.flag('includeRequestDetails'))),
  ];
}
