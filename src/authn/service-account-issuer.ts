import { serviceAccountUserName } from '../api/user';
import { signJwt } from '../pki/jwt';
import type { SigningKey } from '../pki/signing-keys';

interface NamedObject {
  readonly name: string;
  readonly uid: string;
}

/** What a new token says. */
export interface BoundTokenRequest {
  readonly namespace: string;
  readonly account: NamedObject;
  readonly pod?: NamedObject;
  readonly secret?: NamedObject;
  readonly audiences: readonly string[];
  readonly lifetimeSeconds: number;
  /** The life that was asked for, where the token lives longer: its use after that is told. */
  readonly warnAfterSeconds?: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Signs bound tokens in the name of the issuer. */
export function boundTokenIssuer(
  issuer: string,
  key: () => SigningKey,
): (request: BoundTokenRequest) => Promise<string> {
  return ({ namespace, account, pod, secret, audiences, lifetimeSeconds, warnAfterSeconds, now }) => {
    const { privateKey, id } = key();
    const issuedAt = Math.floor(now / 1000);
    return signJwt(
      {
        aud: [...audiences],
        exp: issuedAt + lifetimeSeconds,
        iat: issuedAt,
        iss: issuer,
        'kubernetes.io': {
          namespace,
          ...(pod === undefined ? {} : { pod }),
          ...(secret === undefined ? {} : { secret }),
          serviceaccount: account,
          ...(warnAfterSeconds === undefined ? {} : { warnafter: issuedAt + warnAfterSeconds }),
        },
        nbf: issuedAt,
        sub: serviceAccountUserName(namespace, account.name),
      },
      privateKey,
      id,
    );
  };
}
