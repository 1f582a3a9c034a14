import { badRequest } from '../../api/errors/status-error';
import type { TokenAuthenticator } from '../../authn/credentials';
import { withAuthenticatedGroup } from '../../authn/union';
import type { Endpoint } from './endpoint';
import { kindOf } from './resource-request';
import { reviewResponse, decodePosted } from './review';
import { userInfoOf } from './self-subject-review';

interface TokenReviewSpec {
  readonly token?: string;
  readonly audiences?: readonly string[] | null;
}

/** TokenReview: whose token is this? `audiences` are this server's, for reviews that name none. */
export function tokenReview(authenticate: TokenAuthenticator, audiences: readonly string[]): Endpoint {
  return async (request, dependencies) => {
    const { served } = request;
    const object = await decodePosted(request, dependencies, { kind: kindOf(request), type: served.type });
    const spec = (object.spec ?? {}) as TokenReviewSpec;
    if (spec.token === undefined || spec.token === '') {
      throw badRequest('token is required for TokenReview in authentication');
    }
    const wanted = spec.audiences != null && spec.audiences.length > 0 ? spec.audiences : audiences;
    const result = await authenticate(spec.token, wanted);
    const { authenticated: _sent, ...sent } = (object.status ?? {}) as Readonly<Record<string, unknown>>;
    const status =
      result !== undefined && 'user' in result
        ? {
            authenticated: true,
            ...sent,
            user: userInfoOf(withAuthenticatedGroup(result.user)),
            ...(result.audiences === undefined || result.audiences.length === 0 ? {} : { audiences: result.audiences }),
          }
        : { user: {}, ...sent, error: result?.refused ?? 'invalid bearer token' };
    return { type: 'object', code: 201, object: reviewResponse(object, { status }), served };
  };
}
