/** A problem of an expression's text. */
export interface SourceProblem {
  readonly position: number;
  readonly message: string;
}

/** All problems that were found in an expression; the message is worded and laid out as cel-go's. */
export class CelSyntaxError extends Error {
  constructor(source: string, problems: readonly SourceProblem[]) {
    super(printProblems(source, problems));
    this.name = 'CelSyntaxError';
  }
}

/** More than this are not told, and fewer of a long text, of which each shows a line. */
export const MAX_PROBLEMS = 100;
const MAX_MESSAGE = 16 * 1024;

function printProblems(source: string, problems: readonly SourceProblem[]): string {
  let text = '';
  for (const [index, problem] of problems.entries()) {
    if (text.length > MAX_MESSAGE) return `${text}\n${problems.length - index} more errors`;
    text += `${index === 0 ? '' : '\n'}${printProblem(source, problem)}`;
  }
  return text;
}

/** The line with a caret under the place: `ERROR: <input>:1:5: undefined field 'foo'`. */
function printProblem(source: string, { position, message }: SourceProblem): string {
  const before = source.slice(0, position);
  const lineStart = before.lastIndexOf('\n') + 1;
  const lineEnd = source.indexOf('\n', position);
  const line = source.slice(lineStart, lineEnd < 0 ? undefined : lineEnd);
  const lineNumber = before.split('\n').length;
  const column = [...source.slice(lineStart, position)].length;
  const snippet = line.replaceAll('\t', ' ');
  return `ERROR: <input>:${lineNumber}:${column + 1}: ${message}\n | ${snippet}\n | ${'.'.repeat(column)}^`;
}
