import type { MaybePromise } from '../../api/maybe-promise';
import type { RequestContext } from '../request/context';
import type { ApiResponse } from '../response/api-response';

/** A path outside the resource tree: health, version, discovery, metrics, OpenAPI. */
export interface NonResourceRoute {
  readonly path: string;
  /** Every path below it, too. */
  readonly prefix?: boolean;
  /** Left out of the list of paths at `/` and in 404 answers. */
  readonly unlisted?: boolean;
  /** Paths below it that are listed there. */
  readonly lists?: readonly string[];
  /** Those that come and go; the same array for as long as nothing has changed. */
  readonly listsNow?: () => readonly string[];
  /** Others are answered 405; absent: GET only. */
  readonly methods?: readonly string[] | 'any';
  /** Undefined: there is nothing at this path after all. */
  readonly handler: (context: RequestContext) => MaybePromise<ApiResponse | undefined>;
}
