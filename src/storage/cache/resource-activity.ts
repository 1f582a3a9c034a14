/** What has been done with one resource since the start, as plain numbers: metrics are made of them when they are read. */
export class ResourceActivity {
  /** How often all of it was loaded from the store. */
  initializations = 0;
  /** Reads of the newest state that memory answered, and those that the store had to. */
  consistentReads = 0;
  fallbackReads = 0;
  /** Lists that the store answered; what they read, tried selectors on, and gave. */
  storeLists = 0;
  storeFetched = 0;
  storeEvaluated = 0;
  storeReturned = 0;
  /** Objects that new watches were given at their beginning. */
  initialEvents = 0;
  /** Watches that were ended because their readers did not keep up. */
  terminatedWatches = 0;
}
