import type { UserInfo } from '../../api/user';
import type { Endpoint } from './endpoint';
import { kindOf } from './resource-request';
import { reviewResponse, decodePosted } from './review';

/** A user as the reviews of authentication show it. */
export function userInfoOf({ name, uid, groups, extra }: UserInfo): Readonly<Record<string, unknown>> {
  return {
    ...(name === '' ? {} : { username: name }),
    ...(uid === undefined ? {} : { uid }),
    ...(groups.length === 0 ? {} : { groups }),
    ...(extra === undefined ? {} : { extra }),
  };
}

/** SelfSubjectReview: who am I? (`kubectl auth whoami`) */
export const selfSubjectReview: Endpoint = async (request, dependencies) => {
  const { served, user } = request;
  const object = await decodePosted(request, dependencies, { kind: kindOf(request), type: served.type });
  const status = { userInfo: userInfoOf(user) };
  return { type: 'object', code: 201, object: reviewResponse(object, { status }), served };
};
