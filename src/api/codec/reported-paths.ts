/** What the paths of one report may be long together, in characters: all may begin with the same long key. */
const MAX_LENGTH = 256 * 1024;

/** The first of the paths, as many as may be told together; one at least. */
export function reportedPaths(paths: readonly string[]): readonly string[] {
  let length = 0;
  for (let told = 0; told < paths.length; told += 1) {
    length += (paths[told] as string).length;
    if (length > MAX_LENGTH && told > 0) return paths.slice(0, told);
  }
  return paths;
}
