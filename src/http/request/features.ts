/** What `--feature-gates` can take away from every answer. */
export interface ServerFeatures {
  /** `APIResponseCompression`: gzip for clients that take it. */
  readonly compression: boolean;
  /** `APIListChunking`: `limit` and `continue`. */
  readonly listChunking: boolean;
  /** `RemainingItemCount`: in the metadata of a page. */
  readonly remainingItemCount: boolean;
  /** `WarningHeaders`. */
  readonly warnings: boolean;
}

export const ALL_FEATURES: ServerFeatures = {
  compression: true,
  listChunking: true,
  remainingItemCount: true,
  warnings: true,
};
