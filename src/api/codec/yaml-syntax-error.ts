/** Thrown for a text that is no YAML, or says what JSON cannot; the message begins with `yaml: `. */
export class YamlSyntaxError extends Error {
  override readonly name = 'YamlSyntaxError';

  constructor(problem: string) {
    super(`yaml: ${problem}`);
  }
}
