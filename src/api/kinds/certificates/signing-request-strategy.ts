import type { KubeObject } from '../../object';
import type { CertificateSigningRequestCondition as Condition } from '../../schema/generated/certificates-v1';
import { listAt, mapAt, valueAt } from '../field-values';
import type { WriteRequest } from '../kind-definition';
import { keepField, keepSpec, withFields } from '../strategies';

/** The requester is the user whom authentication found, whatever the request says; no request is approved when it is created. */
export function recordRequester(object: KubeObject, request?: WriteRequest): KubeObject {
  const { username: _name, uid: _uid, groups: _groups, extra: _extra, ...spec } = mapAt(object, 'spec');
  const user = request?.user;
  const requester = {
    username: user?.name || undefined,
    uid: user?.uid || undefined,
    groups: user === undefined || user.groups.length === 0 ? undefined : user.groups,
    extra: user?.extra === undefined || Object.keys(user.extra).length === 0 ? undefined : user.extra,
  };
  return withFields({ ...object, spec, status: {} }, 'spec', requester);
}

function conditionsOf(object: KubeObject): readonly Condition[] {
  return listAt(object, 'status', 'conditions') as readonly Condition[];
}

function withConditions(object: KubeObject, conditions: readonly Condition[]): KubeObject {
  return conditions.length === 0 ? object : withFields(object, 'status', { conditions });
}

/** A condition keeps the time since which it is as it is. */
function dateConditions(object: KubeObject, old: KubeObject, request?: WriteRequest): KubeObject {
  const dated = conditionsOf(object).map((condition): Condition => {
    const before = conditionsOf(old).find(
      ({ type, status, lastTransitionTime }) =>
        type === condition.type && status === condition.status && Boolean(lastTransitionTime),
    );
    const now = request?.now ?? null;
    return {
      ...condition,
      lastUpdateTime: condition.lastUpdateTime ?? now,
      lastTransitionTime: condition.lastTransitionTime ?? before?.lastTransitionTime ?? now,
    };
  });
  return withConditions(object, dated);
}

const DECISIONS = ['Approved', 'Denied'];

/** As many decisions as there were are the ones that were; a change of their number is left for validation to refuse. */
function keepDecisions(object: KubeObject, old: KubeObject): KubeObject {
  const conditions = DECISIONS.reduce<readonly Condition[]>((result, type) => {
    const before = conditionsOf(old).filter((condition) => condition.type === type);
    if (result.filter((condition) => condition.type === type).length !== before.length) return result;
    const kept = before.values();
    return result.map((condition) => (condition.type === type ? (kept.next().value ?? condition) : condition));
  }, conditionsOf(object));
  return withConditions(object, conditions);
}

/** An update of the request itself changes its metadata only. */
export function keepSpecAndStatus(object: KubeObject, old: KubeObject): KubeObject {
  return keepField(keepSpec(object, old), old, 'status');
}

function hasOtherDecisions(object: KubeObject, old: KubeObject): boolean {
  const count = (of: KubeObject, type: string): number =>
    conditionsOf(of).filter((condition) => condition.type === type).length;
  return DECISIONS.some((type) => count(object, type) !== count(old, type));
}

/** Through v1beta1 a change of decisions is not refused: no condition changes then. */
export function prepareStatus(object: KubeObject, old: KubeObject, request?: WriteRequest): KubeObject {
  if (request?.requested?.version === 'v1beta1' && hasOtherDecisions(object, old)) {
    const conditions = valueAt(old, 'status', 'conditions') ?? undefined;
    return withFields(keepSpec(object, old), 'status', { conditions });
  }
  return dateConditions(keepDecisions(keepSpec(object, old), old), old, request);
}

/** An approval changes the conditions only. */
export function prepareApproval(object: KubeObject, old: KubeObject, request?: WriteRequest): KubeObject {
  const dated = dateConditions(object, old, request);
  const conditions = valueAt(dated, 'status', 'conditions') ?? undefined;
  return withFields(keepSpecAndStatus(dated, old), 'status', { conditions });
}
